package io.keelson.server.http;

import io.keelson.core.run.Command;
import io.keelson.server.auth.Scope;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import tools.jackson.databind.node.ObjectNode;

/** What humans do to one agent of a run. The answer is the agent as it is afterwards. */
final class AgentActions {

    private static final int MAX_REASON = 2_000;

    private final Reads reads;
    private final Submission submission;

    AgentActions(Reads reads, Submission submission) {
        this.reads = reads;
        this.submission = submission;
    }

    void addTo(Route.Table table) {
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/agents/{number}/cancel", this::cancel);
    }

    private Answer cancel(Call call) throws IOException, InterruptedException {
        call.query().done();
        Fields fields = call.fields();
        String reason = fields.optionalText("reason", MAX_REASON);
        fields.done();
        UUID run = call.id("id", IdKind.RUN);
        int number = number(call.pathText("number"));
        reads.requireRun(call.workspace(), run);
        if (reads.read((runs, c) -> runs.asksForApproval(c, call.workspace(), run, number))) {
            call.require(Scope.APPROVE);
        }
        submission.submit(call, new Command.CancelAgent(run, number, reason, call.actor()));
        return Answer.ok(agent(call.workspace(), run, number));
    }

    private static int number(String text) {
        if (!text.matches("\\d{1,6}")) {
            throw Refusal.of(ErrorCode.INVALID_ID, "'" + Shown.piece(text) + "' is not an agent's number");
        }
        return Integer.parseInt(text);
    }

    private ObjectNode agent(UUID workspace, UUID run, int number) {
        List<ObjectNode> agents = reads.ofRun(workspace, run, (runs, c) -> runs.agents(c, workspace, run));
        return agents.reversed().stream().filter(agent -> agent.get("number").asInt() == number).findFirst()
                .orElseThrow(() -> Refusal.of(ErrorCode.AGENT_NOT_FOUND, "no agent " + number));
    }
}
