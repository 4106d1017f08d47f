package io.keelson.core.decide;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.Lifecycles;
import io.keelson.core.lifecycle.PossibleActions;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.policy.RetryReason;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.StepPayload;
import io.keelson.core.run.TaskPayload;
import io.keelson.core.run.TimerKind;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** People's actions on one task or one agent of a run. */
final class ManualActions {
    private ManualActions() {}

    static Reply cancel(Decision d, Command.CancelTask command) {
        TaskRow task = d.view.tasks.get(command.taskId());
        if (task == null) {
            return notFound();
        }
        if (task.state == TaskState.CANCELLED) {
            return Reply.UNCHANGED;
        }
        if (task.terminal()) {
            return forbidden(task, "cancel");
        }
        Completion.cancelled(d, List.of(task), new TaskPayload.Cancelled(d.by(), why(command.reason()), true));
        return Reply.CHANGED;
    }

    static Reply cancel(Decision d, Command.CancelAgent command) {
        AgentRow agent = d.view.agents.stream().filter(each -> each.number() == command.number()).findFirst()
                .orElse(null);
        if (agent == null) {
            return Reply.rejected("AGENT_NOT_FOUND", "the run's current attempt has no agent " + command.number());
        }
        if (agent.state.terminal()) {
            boolean cancelled = agent.state == AgentState.CANCELLED || agent.tasksCancelled > 0;
            return cancelled ? Reply.UNCHANGED
                    : new Reply.Rejected("INVALID_STATE_TRANSITION", "cannot cancel an agent that is "
                            + agent.state.wire(), agent.state.wire(), List.of());
        }
        Completion.cancelled(d, d.view.tasks.values().stream().filter(task -> task.agent() == agent).toList(),
                new TaskPayload.Cancelled(d.by(), why(command.reason()), true));
        return Reply.CHANGED;
    }

    /**
     * Only a task that waits for another attempt can be retried at once; a failed task belongs to a failed run's retry.
     */
    static Reply retry(Decision d, Command.RetryTask command) {
        TaskRow task = d.view.tasks.get(command.taskId());
        if (task == null) {
            return notFound();
        }
        if (task.parked() || task.steps.stream().anyMatch(StepRow::parked)) {
            return new Reply.Rejected("TICKET_OPEN", "task '" + task.key() + "' waits for the answer to its ticket",
                    task.state.wire(), List.of("resolve"));
        }
        if (task.state == TaskState.FAILED) {
            return new Reply.Rejected(RetryReason.RETRY_STATE_TERMINAL.name(), "task '" + task.key()
                    + "' has failed for good and begins no further attempt: retry its run if that fails, or fork it if it"
                    + " completes (`keelson retry`, `keelson fork`)",
                    task.state.wire(), List.of());
        }
        if (task.state == TaskState.AWAITING_HUMAN) {
            return Verdicts.decide(d, task, Command.DecideTask.Choice.RETRY, null, null);
        }
        if (task.state == TaskState.AWAITING_RETRY) {
            task.nextRunAt = d.now;
            d.changes.touch(task);
            d.arm(TimerKind.TASK_RETRY, task.id(), d.now);
            d.note(task, new TaskPayload.RetryRequested(d.by(), why(null)));
            AttemptRestarts.nextAttempt(d, task);
            return Reply.CHANGED;
        }
        List<StepRow> waiting = task.steps.stream()
                .filter(step -> step.state == StepState.AWAITING_RETRY || step.deferred()).toList();
        if (waiting.isEmpty()) {
            return forbidden(task, "retry");
        }
        for (StepRow step : waiting) {
            step.nextRunAt = d.now;
            d.changes.touch(step);
            d.disarm(TimerKind.STEP_RETRY, step.id());
            d.note(task, step, new StepPayload.RetryRequested(d.by(), why(null)));
            SlotScheduling.open(d, step, null);
        }
        return Reply.CHANGED;
    }

    static Reply skip(Decision d, Command.SkipTask command) {
        TaskRow task = d.view.tasks.get(command.taskId());
        if (task == null) {
            return notFound();
        }
        if (task.state == TaskState.SKIPPED) {
            return Reply.UNCHANGED;
        }
        if (task.state == TaskState.QUEUED) {
            d.move(task, TaskState.ASSIGNED, EventPayloads.assigned(task, null));
            d.move(task, TaskState.RUNNING, new TaskPayload.Started(task.attempt, null, null));
        }
        if (!Lifecycles.TASK.allows(task.state, TaskState.SKIPPED) || task.isGroup() && !task.children.isEmpty()
                && !(task.isRepeatedGroup() && task.state == TaskState.PENDING)) {
            return forbidden(task, "skip");
        }
        Completion.skipped(d, task,
                new TaskPayload.Skipped(why(command.reason()), null, "request", d.by(), null, null));
        return Reply.CHANGED;
    }

    private static String why(@Nullable String reason) {
        return Objects.requireNonNullElse(reason, "on request");
    }

    private static Reply notFound() {
        return Reply.rejected("TASK_NOT_FOUND", "the run's current attempt has no such task");
    }

    private static Reply forbidden(TaskRow task, String what) {
        return new Reply.Rejected("INVALID_STATE_TRANSITION", "cannot " + what + " task '" + task.key() + "', which is "
                + task.state.wire(), task.state.wire(), PossibleActions.of(task.state));
    }
}
