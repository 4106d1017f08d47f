package io.keelson.server.api.http.support;

import io.keelson.core.run.Command;
import io.keelson.core.run.Command.DecideTask.Choice;
import io.keelson.core.run.Command.Resolution;
import io.keelson.server.tenant.workspace.WorkspaceRow;
import io.keelson.server.tenant.workspace.WorkspaceStore;
import java.util.Set;
import java.util.UUID;

/**
 * The four-eyes principle: in the workspaces of a setting, the submitter of a run does not approve its plan, outputs, steps, calls,
 * budgets or proposals. Rejections and answers to agents' questions are free.
 */
public final class ApproverRule {

    /** In place of the name of a workspace. */
    public static final String ALL = "*";

    /** A step that has an agent's question. */
    private static final String QUESTION = "agent.ask";

    private final Reads reads;
    private final WorkspaceStore workspaces;
    private final Set<String> names;

    /** @param names of workspaces, or {@link #ALL} */
    public ApproverRule(Reads reads, WorkspaceStore workspaces, Set<String> names) {
        this.reads = reads;
        this.workspaces = workspaces;
        this.names = Set.copyOf(names);
    }

    /** Whether the rule is that of a workspace. */
    public boolean isOf(UUID workspace) {
        return names.contains(ALL)
                || !names.isEmpty() && workspaces.find(workspace).map(WorkspaceRow::name).filter(names::contains)
                        .isPresent();
    }

    /** The submitter of a run: the creator of its outermost run. */
    public String submitter(UUID workspace, UUID run) {
        return reads.run(workspace, run).path("created_by").asString("");
    }

    /** Whether a step is a question, which anyone with the scope answers. */
    public boolean isQuestion(UUID workspace, UUID step) {
        return reads.step(workspace, step).path("tool").asString("").equals(QUESTION);
    }

    /** @throws ApiProblem {@code APPROVER_IS_SUBMITTER} */
    void require(ApiRequest request, UUID run) {
        UUID workspace = request.workspace();
        if (isOf(workspace) && submitter(workspace, run).equals(request.actor().id())) {
            throw ApiProblem.of(ErrorCode.APPROVER_IS_SUBMITTER, "in this workspace, another person than "
                    + request.actor().id() + ", who submitted the run, has to approve");
        }
    }

    /** @throws ApiProblem {@code APPROVER_IS_SUBMITTER} for a command with which a submitter approves */
    void require(ApiRequest request, Command command) {
        if (!names.isEmpty() && approves(request.workspace(), command)) {
            require(request, command.runId());
        }
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
}
