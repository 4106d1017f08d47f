package io.keelson.server.http;

import io.keelson.core.run.Command;
import io.keelson.server.auth.Scope;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** What steps propose to people, and the answers. */
final class ProposalActions {

    private static final List<String> STATES = List.of("pending", "accepted", "rejected", "expired", "withdrawn");
    private static final int MAX_COMMENT = 2_000;

    private final Reads reads;
    private final Submission submission;

    ProposalActions(Reads reads, Submission submission) {
        this.reads = reads;
        this.submission = submission;
    }

    void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/proposals", call -> Answer.ok(page(call, call.query().word("state", STATES))));
        table.getAlso(Scope.RUNS_READ, "/proposals/pending", call -> Answer.resource(page(call, "pending")));
        table.get(Scope.RUNS_READ, "/proposals/{id}", this::one);
        table.post(Scope.APPROVE, "/proposals/{id}/accept", call -> decide(call, true));
        table.post(Scope.APPROVE, "/proposals/{id}/reject", call -> decide(call, false));
    }

    private ObjectNode page(Call call, @Nullable String state) {
        Query query = call.query();
        String run = query.text("run_id");
        Cursor cursor = new Cursor("proposals");
        UUID after = cursor.read(query, UUID::fromString);
        int limit = query.limit();
        query.done();
        UUID runId = run == null ? null : IdKind.RUN.parse(run);
        if (run != null && runId == null) {
            throw Query.invalid("run_id", "must be a run's id");
        }
        List<ObjectNode> found = reads.read((runs, c) -> Reads.PROPOSALS.proposals(c, call.workspace(), state, runId,
                after, limit + 1));
        List<ObjectNode> shown = found.stream().limit(limit).toList();
        return Lists.page(shown,
                found.size() <= limit ? null : cursor.write(shown.getLast().get("id").stringValue()));
    }

    private Answer one(Call call) {
        call.query().done();
        return Answer.resource(reads.proposal(call.workspace(), call.id("id", IdKind.PROPOSAL)));
    }

    private Answer decide(Call call, boolean accept) throws IOException, InterruptedException {
        call.query().done();
        Fields fields = call.fields();
        String comment = fields.optionalText("reason", MAX_COMMENT);
        fields.done();
        UUID id = call.id("id", IdKind.PROPOSAL);
        answer(call, reads.proposal(call.workspace(), id), accept, comment);
        return Answer.ok(reads.proposal(call.workspace(), id));
    }

    /** Answers the proposal, unless it has this answer already. */
    void answer(Call call, ObjectNode proposal, boolean accept, @Nullable String comment)
            throws InterruptedException {
        String answer = accept ? "accepted" : "rejected";
        if (answered(proposal, answer)) {
            return;
        }
        UUID id = UUID.fromString(proposal.get("id").stringValue());
        UUID run = UUID.fromString(proposal.get("run_id").stringValue());
        try {
            submission.submit(call, new Command.DecideProposal(run, id, accept, comment, call.actor()));
        } catch (Refusal e) {
            if (!answered(reads.proposal(call.workspace(), id), answer)) {
                throw e;
            }
        }
    }

    private static boolean answered(ObjectNode proposal, String answer) {
        String state = proposal.get("state").stringValue();
        if (!state.equals("pending") && !state.equals(answer)) {
            throw Refusal.of(ErrorCode.PROPOSAL_NOT_PENDING, "the proposal is " + state).with("current_state", state);
        }
        return state.equals(answer);
    }
}
