package io.keelson.cli.view;

import io.keelson.api.inbox.Escalation;
import io.keelson.api.inbox.InboxItem;
import io.keelson.api.run.Explanation;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.api.run.Task;
import java.util.List;

/**
 * Waits of a run that only people can end.
 *
 * @param approvals steps that wait for a decision
 * @param outputs tasks whose output waits for a decision
 * @param results tasks without downstream tasks: their outputs are the result if the run has no output of its own
 * @param tickets that are open
 * @param questions of MCP servers, which have an answer of their own form
 * @param stopped reasons of a stop by its budget; empty otherwise
 */
public record PendingDecisions(Run run, List<Step> approvals, List<Task> outputs, List<Task> results,
        List<Escalation> tickets, List<InboxItem> questions, List<Explanation.Reason> stopped) {

    public PendingDecisions {
        approvals = List.copyOf(approvals);
        outputs = List.copyOf(outputs);
        results = List.copyOf(results);
        tickets = List.copyOf(tickets);
        questions = List.copyOf(questions);
        stopped = List.copyOf(stopped);
    }

    /** The plan is to be approved. */
    public boolean plan() {
        return run.state().equals("awaiting_approval");
    }

    /** The result is to be accepted. */
    public boolean result() {
        return run.state().equals("running") && "acceptance".equals(run.gate());
    }

    /** Whether there is anything that a person could do now; also when a person has paused the run. */
    public boolean any() {
        return !run.ended() && (plan() || result() || run.stateType().equals("paused") || !approvals.isEmpty()
                || !outputs.isEmpty() || !tickets.isEmpty() || !questions.isEmpty());
    }

    /** How many decisions there are that approve and reject are about. */
    int decisions() {
        return plan() || result() ? 1 : approvals.size() + outputs.size();
    }
}
