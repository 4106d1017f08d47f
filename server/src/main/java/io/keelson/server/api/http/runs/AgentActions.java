package io.keelson.server.api.http.runs;

import io.keelson.api.Reason;
import io.keelson.core.run.Command;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.Submission;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.tenant.auth.Scope;
import java.util.List;
import java.util.UUID;
import tools.jackson.databind.node.ObjectNode;

/** Actions of people on one agent of a run. Each returns the changed agent. */
public final class AgentActions {

    private final Reads reads;
    private final Submission submission;

    public AgentActions(Reads reads, Submission submission) {
        this.reads = reads;
        this.submission = submission;
    }

    public void addTo(Route.Table table) {
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/agents/{number}/cancel", Reason.class, this::cancel);
    }

    private ApiResponse cancel(ApiRequest request, Reason body) throws InterruptedException {
        UUID run = request.id("id", IdKind.RUN);
        int number = number(request.pathText("number"));
        reads.requireRun(request.workspace(), run);
        if (reads.read((runs, c) -> runs.asksForApproval(c, request.workspace(), run, number))) {
            submission.requireApprover(request, run);
        }
        submission.submit(request, new Command.CancelAgent(run, number, body.reason(), request.actor()));
        return ApiResponse.ok(agent(request.workspace(), run, number));
    }

    private static int number(String text) {
        if (!text.matches("\\d{1,6}")) {
            throw ApiProblem.of(ErrorCode.INVALID_ID, "'" + Excerpt.piece(text) + "' is not an agent's number");
        }
        return Integer.parseInt(text);
    }

    private ObjectNode agent(UUID workspace, UUID run, int number) {
        List<ObjectNode> agents = reads.ofRun(workspace, run, (runs, c) -> runs.agents(c, workspace, run));
        return agents.reversed().stream().filter(agent -> agent.get("number").asInt() == number).findFirst()
                .orElseThrow(() -> ApiProblem.of(ErrorCode.AGENT_NOT_FOUND, "no agent " + number));
    }
}
