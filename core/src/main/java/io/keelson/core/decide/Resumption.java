package io.keelson.core.decide;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.run.AgentPayload;
import io.keelson.core.run.Reply;
import io.keelson.core.run.RunPayload;
import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Continues a run that was paused, escalated or stopped at its limit. */
final class Resumption {
    private Resumption() {}

    static Reply resume(Decision d) {
        return resume(d, HardLimit.limit(d.run));
    }

    /** @param before the run's previous hard limit; null if absent */
    static Reply resume(Decision d, @Nullable BigDecimal before) {
        CountedTime.heldUp(d.view, d.changes, d.run.stateSince, d.now);
        if (d.run.state == RunState.PAUSED) {
            ChildLinks.tellAll(d);
            ChildLinks.rested(d, d.run.stateSince);
        }
        String by = d.by();
        d.move(RunState.RESUMING, d.run.state == RunState.BUDGET_EXCEEDED
                ? new RunPayload.BudgetIncreased(before, HardLimit.limit(d.run), by)
                : new RunPayload.Resuming(by));
        TaskBudgets.continued(d);
        for (AgentRow agent : d.view.agents) {
            if (agent.state == AgentState.PAUSED) {
                d.move(agent, AgentState.PENDING, new AgentPayload.Resumed());
            }
        }
        d.move(RunState.RUNNING, new RunPayload.Resumed(by, d.run.begunAt == null));
        if (!d.view.tickets.isEmpty() && !Undoing.othersContinue(d)) {
            Tickets.hold(d);
            return Reply.CHANGED;
        }
        if (Pauses.pauseWithParent(d) || LimitStop.stopsNow(d)) {
            return Reply.CHANGED;
        }
        if (d.run.gate == RunRow.Gate.ACCEPTANCE) {
            d.ask(d.run.id());
        }
        d.view.agents.forEach(agent -> AttemptRestarts.begin(d, agent));
        d.view.agents.stream().filter(agent -> agent.begunAt != null && agent.tasksOpen == 0)
                .forEach(agent -> SlotScheduling.start(d, agent));
        for (TaskRow task : List.copyOf(d.view.tasks.values())) {
            continueTask(d, task);
        }
        Completion.judgeAll(d);
        for (AgentRow agent : d.view.agents) {
            SlotScheduling.fill(d, agent);
        }
        if (Replanning.plannerIsDone(d)) {
            Replanning.checkAnswer(d);
        }
        Completion.settle(d);
        return Reply.CHANGED;
    }

    private static void continueTask(Decision d, TaskRow task) {
        if (task.state == TaskState.AWAITING_RETRY) {
            AttemptRestarts.nextAttempt(d, task);
        } else if (task.state == TaskState.VERIFYING) {
            SlotScheduling.start(d, task.agent());
            SlotScheduling.armRetries(d, task);
            SlotScheduling.open(d, task, null);
        } else if (task.state == TaskState.CONTINUING) {
            SlotScheduling.start(d, task.agent());
            TaskProgress.nextTurn(d, task);
        } else if (task.state == TaskState.RUNNING && !task.isGroup()) {
            SlotScheduling.start(d, task.agent());
            SlotScheduling.armRetries(d, task);
            if (!SlotScheduling.open(d, task, null) && !task.evaluating) {
                TaskProgress.finish(d, task);
            }
        } else if (task.state == TaskState.AWAITING_HUMAN) {
            SlotScheduling.start(d, task.agent());
        } else if (task.state == TaskState.RUNNING && task.nextRunAt != null) {
            Rounds.due(d, task);
        } else if (task.state == TaskState.RUNNING && task.childrenOpen == 0 && !task.evaluating) {
            TaskProgress.finish(d, task);
        }
    }
}
