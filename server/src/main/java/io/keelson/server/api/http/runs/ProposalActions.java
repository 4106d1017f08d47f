package io.keelson.server.api.http.runs;

import io.keelson.api.Reason;
import io.keelson.core.run.Command;
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
import io.keelson.server.tenant.auth.Scope;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Proposals of steps, and the answers. */
public final class ProposalActions {

    private final Reads reads;
    private final Submission submission;

    public ProposalActions(Reads reads, Submission submission) {
        this.reads = reads;
        this.submission = submission;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/proposals",
                request -> ApiResponse.ok(page(request, request.query().text("state"))));
        table.getAlso(Scope.RUNS_READ, "/proposals/pending",
                apiRequest -> ApiResponse.resource(page(apiRequest, "pending")));
        table.get(Scope.RUNS_READ, "/proposals/{id}", this::one);
        table.post(Scope.APPROVE, "/proposals/{id}/accept", Reason.class,
                (request, body) -> decide(request, true, body));
        table.post(Scope.APPROVE, "/proposals/{id}/reject", Reason.class,
                (request, body) -> decide(request, false, body));
    }

    private ObjectNode page(ApiRequest request, @Nullable String state) {
        Query query = request.query();
        UUID run = query.id("run_id");
        ListCursor cursor = new ListCursor("proposals");
        UUID after = cursor.read(query, UUID::fromString);
        int limit = query.limit();
        Page<ObjectNode> found = reads.read((runs, c) -> Reads.PROPOSALS.proposals(c, request.workspace(), state, run,
                after, limit));
        return Lists.page(found, cursor, proposal -> proposal.get("id").stringValue(), Function.identity());
    }

    private ApiResponse one(ApiRequest request) {
        return ApiResponse.resource(reads.proposal(request.workspace(), request.id("id", IdKind.PROPOSAL)));
    }

    private ApiResponse decide(ApiRequest request, boolean accept, Reason body) throws InterruptedException {
        UUID id = request.id("id", IdKind.PROPOSAL);
        answer(request, reads.proposal(request.workspace(), id), accept, body.reason());
        return ApiResponse.ok(reads.proposal(request.workspace(), id));
    }

    /** Answers the proposal, unless it has this answer already. */
    public void answer(ApiRequest request, ObjectNode proposal, boolean accept, @Nullable String comment)
            throws InterruptedException {
        String answer = accept ? "accepted" : "rejected";
        if (answered(proposal, answer)) {
            return;
        }
        UUID id = UUID.fromString(proposal.get("id").stringValue());
        UUID run = UUID.fromString(proposal.get("run_id").stringValue());
        try {
            submission.submit(request, new Command.DecideProposal(run, id, accept, comment,
                    changesPlan(proposal.get("data")) ? instructions(proposal, comment) : null, request.actor()));
        } catch (ApiProblem e) {
            if (!answered(reads.proposal(request.workspace(), id), answer)) {
                throw e;
            }
        }
    }

    /** True for the data of a proposal that the planner makes a new plan of when it is accepted. */
    public static boolean changesPlan(JsonNode data) {
        return "plan_change".equals(data.path("kind").asString(null));
    }

    private static String instructions(ObjectNode proposal, @Nullable String comment) {
        return Stream.of(proposal.get("title").stringValue(), proposal.get("body").asString(null), comment)
                .filter(Objects::nonNull).collect(Collectors.joining("\n\n"));
    }

    private static boolean answered(ObjectNode proposal, String answer) {
        String state = proposal.get("state").stringValue();
        if (!state.equals("pending") && !state.equals(answer)) {
            throw ApiProblem.of(ErrorCode.PROPOSAL_NOT_PENDING, "the proposal is " + state).with("current_state",
                    state);
        }
        return state.equals(answer);
    }
}
