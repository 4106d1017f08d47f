package io.keelson.server.api.http.runs;

import io.keelson.api.inbox.Escalation;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Resolution;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.Submission;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Scope;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Tickets: questions of the failure policy, and people's answers. */
public final class EscalationActions {

    private static final List<String> ANSWERS = Arrays.stream(Resolution.values()).map(Resolution::wire).toList();

    private final Reads reads;
    private final Submission submission;

    public EscalationActions(Reads reads, Submission submission) {
        this.reads = reads;
        this.submission = submission;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/escalations", this::list);
        table.get(Scope.RUNS_READ, "/escalations/{id}", this::one);
        table.post(Scope.APPROVE, "/escalations/{id}/resolve", Escalation.Answer.class, this::resolve);
    }

    private ApiResponse list(ApiRequest request) {
        Query query = request.query();
        UUID run = query.id("run_id");
        String state = query.text("state");
        ListCursor cursor = new ListCursor("escalations");
        UUID after = cursor.read(query, UUID::fromString);
        int limit = query.limit();
        Page<ObjectNode> found = reads.read((runs, c) -> runs.escalations(c, request.workspace(), run, state, after,
                limit));
        return ApiResponse.ok(
                Lists.page(found, cursor, ticket -> ticket.get("id").stringValue(), EscalationActions::shown));
    }

    private ApiResponse one(ApiRequest request) {
        return ApiResponse.resource(shown(reads.escalation(request.workspace(), request.id("id", IdKind.ESCALATION))));
    }

    private ApiResponse resolve(ApiRequest request, Escalation.Answer body) throws InterruptedException {
        UUID id = request.id("id", IdKind.ESCALATION);
        answer(request, reads.escalation(request.workspace(), id),
                Resolution.valueOf(body.resolution().toUpperCase(Locale.ROOT)), body.reason(), body.alike());
        return ApiResponse.ok(shown(reads.escalation(request.workspace(), id)));
    }

    /**
     * Answers the ticket, unless it has this answer already.
     *
     * @param alike as of {@link Command.Resolve}
     */
    public void answer(ApiRequest request, ObjectNode ticket, Resolution answer, @Nullable String comment,
            boolean alike) throws InterruptedException {
        if (answered(ticket, answer.wire())) {
            return;
        }
        UUID id = UUID.fromString(ticket.get("id").stringValue());
        UUID run = UUID.fromString(ticket.get("run_id").stringValue());
        try {
            submission.submit(request, new Command.Resolve(run, id, answer, comment, alike, request.actor()));
        } catch (ApiProblem e) {
            if (!answered(reads.escalation(request.workspace(), id), answer.wire())) {
                throw e;
            }
        }
    }

    /** Whether the ticket already has this answer. Refuses a different answer. */
    private static boolean answered(ObjectNode ticket, String answer) {
        String given = ticket.path("resolution").asString("");
        if (!given.isEmpty() && !given.equals(answer)) {
            throw ApiProblem.of(ErrorCode.TICKET_NOT_OPEN, "the ticket was answered with " + given)
                    .with("current_state", ticket.get("state").stringValue());
        }
        return !given.isEmpty();
    }

    private static ObjectNode shown(ObjectNode ticket) {
        boolean open = ticket.get("state").stringValue().equals("open");
        boolean undo = ticket.get("undo").booleanValue();
        ticket.set("suggested_actions", Json.strings(!open ? List.of()
                : ANSWERS.stream().filter(each -> undo || !each.equals(Resolution.DONE.wire())).toList()));
        return ticket;
    }
}
