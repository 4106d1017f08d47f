package io.keelson.server.http;

import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Resolution;
import io.keelson.server.auth.Scope;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Tickets: what the failure policy asks of humans, and their answers. */
final class EscalationActions {

    private static final List<String> STATES = List.of("open", "resolved");
    private static final List<String> ANSWERS = Arrays.stream(Resolution.values()).map(Resolution::wire).toList();
    private static final int MAX_COMMENT = 2_000;

    private final Reads reads;
    private final Submission submission;

    EscalationActions(Reads reads, Submission submission) {
        this.reads = reads;
        this.submission = submission;
    }

    void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/escalations", this::list);
        table.get(Scope.RUNS_READ, "/escalations/{id}", this::one);
        table.post(Scope.APPROVE, "/escalations/{id}/resolve", this::resolve);
    }

    private Answer list(Call call) {
        Query query = call.query();
        UUID run = run(query.text("run_id"));
        String state = query.word("state", STATES);
        Cursor cursor = new Cursor("escalations");
        UUID after = cursor.read(query, UUID::fromString);
        int limit = query.limit();
        query.done();
        List<ObjectNode> found = reads.read((runs, c) -> runs.escalations(c, call.workspace(), run, state, after,
                limit + 1));
        List<ObjectNode> shown = found.stream().limit(limit).map(EscalationActions::shown).toList();
        return Answer.ok(Lists.page(shown,
                found.size() <= limit ? null : cursor.write(shown.getLast().get("id").stringValue())));
    }

    private static @Nullable UUID run(@Nullable String text) {
        UUID id = text == null ? null : IdKind.RUN.parse(text);
        if (text != null && id == null) {
            throw Refusal.of(ErrorCode.INVALID_PARAMETER, "'run_id' must be a run's id").with("parameter", "run_id");
        }
        return id;
    }

    private Answer one(Call call) {
        call.query().done();
        return Answer.resource(shown(reads.escalation(call.workspace(), call.id("id", IdKind.ESCALATION))));
    }

    private Answer resolve(Call call) throws IOException, InterruptedException {
        call.query().done();
        Fields fields = call.fields();
        String answer = fields.requiredWord("resolution", ANSWERS);
        String comment = fields.optionalText("reason", MAX_COMMENT);
        fields.done();
        UUID id = call.id("id", IdKind.ESCALATION);
        answer(call, reads.escalation(call.workspace(), id), Resolution.valueOf(answer.toUpperCase(Locale.ROOT)),
                comment);
        return Answer.ok(shown(reads.escalation(call.workspace(), id)));
    }

    /** Answers the ticket, unless it has this answer already. */
    void answer(Call call, ObjectNode ticket, Resolution answer, @Nullable String comment)
            throws InterruptedException {
        if (answered(ticket, answer.wire())) {
            return;
        }
        UUID id = UUID.fromString(ticket.get("id").stringValue());
        UUID run = UUID.fromString(ticket.get("run_id").stringValue());
        try {
            submission.submit(call, new Command.Resolve(run, id, answer, comment, call.actor()));
        } catch (Refusal e) {
            if (!answered(reads.escalation(call.workspace(), id), answer.wire())) {
                throw e;
            }
        }
    }

    /** Whether the ticket has this answer already; one that has another refuses it. */
    private static boolean answered(ObjectNode ticket, String answer) {
        String given = ticket.path("resolution").asString("");
        if (!given.isEmpty() && !given.equals(answer)) {
            throw Refusal.of(ErrorCode.TICKET_NOT_OPEN, "the ticket was answered with " + given)
                    .with("current_state", ticket.get("state").stringValue());
        }
        return !given.isEmpty();
    }

    private static ObjectNode shown(ObjectNode ticket) {
        boolean open = ticket.get("state").stringValue().equals("open");
        ticket.set("suggested_actions", Json.strings(open ? ANSWERS : List.of()));
        return ticket;
    }
}
