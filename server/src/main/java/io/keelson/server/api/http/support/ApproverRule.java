package io.keelson.server.api.http.support;

import io.keelson.core.run.Command;
import io.keelson.core.run.Command.DecideTask.Choice;
import io.keelson.core.run.Command.Resolution;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.tenant.workspace.ApprovalRules;
import java.math.BigDecimal;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Rules about the approval of a run's plan, outputs, steps, calls, budgets and proposals: by another person than its submitter, and by
 * several people, if the run or its workspace requires that. Rejections and answers to agents' questions are free.
 */
public final class ApproverRule {

    /** A step that has an agent's question. */
    private static final String QUESTION = "agent.ask";

    private final Reads reads;
    private final ApprovalRules rules;

    /** @param rules of workspaces */
    public ApproverRule(Reads reads, ApprovalRules rules) {
        this.reads = reads;
        this.rules = rules;
    }

    /** Whether the submitter of the run does not approve. */
    private boolean isOf(UUID workspace, UUID run) {
        return rules.required(workspace).fourEyes()
                || reads.read((runs, c) -> runs.approvers(c, workspace, run)).fourEyes();
    }

    /** Which people may approve for the run, and by which rule of its workspace, in words; empty if all may, one of them. */
    public String inWords(UUID workspace, UUID run) {
        RunReader.Approvers approvers = reads.read((runs, c) -> runs.approvers(c, workspace, run));
        boolean others = approvers.fourEyes() || rules.required(workspace).fourEyes();
        return (approvers.people() > approvers.missionPeople()
                ? "; the rule of the workspace requires " + approvers.people() + " people"
                : "")
                + (others ? "; another person than " + submitter(workspace, run) + ", who submitted the run" : "")
                + (others && !approvers.missionFourEyes() ? ", by the rule of the workspace" : "");
    }

    /** The submitter of a run: the creator of its outermost run. */
    private String submitter(UUID workspace, UUID run) {
        return reads.run(workspace, run).path("created_by").asString("");
    }

    /** Whether a step is a question, which anyone with the scope answers. */
    public boolean isQuestion(UUID workspace, UUID step) {
        return reads.step(workspace, step).path("tool").asString("").equals(QUESTION);
    }

    /**
     * For a request that ends a question without an answer to it.
     *
     * @throws ApiProblem {@code APPROVER_IS_SUBMITTER}, {@code APPROVALS_REQUIRED}
     */
    void requireAlone(ApiRequest request, UUID run) {
        require(request, run);
        if (reads.read((runs, c) -> runs.requiresSeveral(c, request.workspace(), run))) {
            throw ApiProblem.of(ErrorCode.APPROVALS_REQUIRED, "the run has a question that several people have to"
                    + " approve: answer it in the inbox");
        }
    }

    private void require(ApiRequest request, UUID run) {
        UUID workspace = request.workspace();
        if (isOf(workspace, run) && submitter(workspace, run).equals(request.actor().id())) {
            throw ApiProblem.of(ErrorCode.APPROVER_IS_SUBMITTER, "another person than " + request.actor().id()
                    + ", who submitted the run, has to approve");
        }
    }

    /**
     * The command to submit: an approval is a vote, to which the run may require more.
     *
     * @throws ApiProblem {@code APPROVER_IS_SUBMITTER} for a command with which a submitter approves
     */
    Command checked(ApiRequest request, Command command) {
        if (!approves(request.workspace(), command)) {
            return command;
        }
        require(request, command.runId());
        return new Command.Vote(command, digest(command), request.isPerson());
    }

    private boolean approves(UUID workspace, Command command) {
        return command instanceof Command.Approve
                || command instanceof Command.DecideGate gate && gate.approve()
                || command instanceof Command.DecideTask task && task.choice() == Choice.APPROVE
                || command instanceof Command.DecideProposal proposal && proposal.accept()
                || command instanceof Command.DecideStep step && step.approve()
                        && !isQuestion(workspace, step.stepId())
                || command instanceof Command.Resolve ticket && ticket.resolution() == Resolution.RESUME
                        && reads.escalation(workspace, ticket.ticketId()).path("kind").asString("")
                                .equals("replan_approval");
    }

    /** SHA-256 of the content of an approval, such as a new limit. */
    static String digest(Command command) {
        ObjectNode content = Json.object();
        if (command instanceof Command.DecideGate gate) {
            content.put("hard_limit", text(gate.hardLimit())).put("downgrade", gate.way().model())
                    .put("finish_current", gate.way().finishing());
            ObjectNode tasks = content.putObject("tasks");
            gate.tasks().forEach((task, budget) -> tasks.put(task, text(budget)));
        } else if (command instanceof Command.DecideStep step && step.given() != null) {
            content.put("given", step.given());
        } else if (command instanceof Command.Approve plan && plan.edit() != null) {
            content.put("plan", plan.edit().planned().json());
        }
        return Json.digest(content);
    }

    private static @Nullable String text(@Nullable BigDecimal amount) {
        return amount == null ? null : Json.plain(amount).toPlainString();
    }
}
