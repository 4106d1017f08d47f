package io.keelson.core.decide;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.StepPayload;
import io.keelson.core.run.TaskPayload;
import io.keelson.core.run.TimerKind;
import java.util.List;

/** Transitions of one task with its open steps: queued, cancelled, skipped, dropped. Callers handle what follows. */
final class TaskMoves {
    private TaskMoves() {}

    /** Removes a task from the current attempt: cancels its open work and stops counting it. */
    static void drop(Decision d, TaskRow task) {
        AgentRow agent = task.agent();
        if (task.terminal()) {
            CompletionCounters.uncount(agent, task);
        } else {
            cancelSteps(d, task);
            forget(d, task);
            cancel(d, task, new TaskPayload.Cancelled(Actor.SYSTEM.name(), "superseded", false));
            d.view.tasksOpen--;
            agent.tasksOpen--;
            if (task.group() != null) {
                task.group().childrenOpen--;
            }
            SlotScheduling.leave(d, task);
        }
        task.superseded = true;
        d.changes.touch(task);
        agent.tasks--;
        CompletionCounters.countTask(d.run, task, -1);
        CompletionCounters.countEnd(d.run, task, -1);
        PlanRows.dropSteps(d, task);
        d.view.tasks.remove(task.id());
        if (task.group() != null) {
            task.group().children.remove(task);
        }
    }

    /** Disarms timers of a task that will not continue. */
    static void forget(Decision d, TaskRow task) {
        switch (task.state) {
            case CONTINUING -> d.disarm(TimerKind.TASK_CONTINUE, task.id());
            case AWAITING_RETRY -> d.disarm(TimerKind.TASK_RETRY, task.id());
            case AWAITING_HUMAN -> d.disarm(TimerKind.HUMAN, task.id());
            case RUNNING -> {
                if (task.isLoop() && task.nextRunAt != null) {
                    task.nextRunAt = null;
                    d.disarm(TimerKind.TASK_CONTINUE, task.id());
                }
            }
            default -> {
            }
        }
    }

    static void cancel(Decision d, TaskRow task, TaskPayload.Cancelled why, List<TaskRow> ended) {
        cancelSteps(d, task);
        forget(d, task);
        cancel(d, task, why);
        ended.add(task);
    }

    /** Cancels a task. The row keeps the reason; earlier failures are in its events. */
    static void cancel(Decision d, TaskRow task, TaskPayload.Cancelled why) {
        task.errorCode = "TASK_CANCELLED";
        task.errorMessage = why.reason();
        task.errorClass = ErrorClass.CANCELLED.wire();
        d.move(task, TaskState.CANCELLED, why);
    }

    /** Cancels a task's open steps and voids its tickets. */
    static void cancelSteps(Decision d, TaskRow task) {
        for (StepRow step : task.steps) {
            if (!step.state.terminal()) {
                cancel(d, step);
            }
        }
        if (!d.view.tickets.isEmpty()) {
            Tickets.voidOf(d, task);
        }
        if (task.evaluating) {
            task.evaluating = false;
            d.disarm(TimerKind.EVALUATE_GATE, task.id());
            d.disarm(TimerKind.EVALUATE_TASK_OUTPUT, task.id());
        }
    }

    static void queue(Decision d, TaskRow task) {
        d.move(task, TaskState.QUEUED,
                task.state == TaskState.ASSIGNED || task.state == TaskState.RUNNING ? new TaskPayload.Requeued()
                        : EventPayloads.queued(task));
        SlotScheduling.ready(d, task);
    }

    /** Skips a pending task because an upstream task has failed. */
    static void skip(Decision d, TaskRow task, TaskRow failed, List<TaskRow> ended) {
        cancelSteps(d, task);
        d.move(task, TaskState.SKIPPED, new TaskPayload.Skipped("'" + failed.key() + "' failed", failed.id(),
                "dependency_failed", null, null, null));
        ended.add(task);
    }

    static void cancel(Decision d, StepRow step) {
        if (step.state == StepState.AWAITING_RETRY || step.deferred()) {
            d.disarm(TimerKind.STEP_RETRY, step.id());
        } else if (step.state == StepState.WAITING) {
            d.disarm(TimerKind.STEP_WAIT, step.id());
            step.signalWait = null;
            ChildLinks.notifyChild(d, step.id());
        } else if (step.state == StepState.WAITING_APPROVAL) {
            d.disarm(TimerKind.HUMAN, step.id());
        }
        if (step.evaluating) {
            step.evaluating = false;
            d.disarm(TimerKind.EVALUATE_STEP, step.id());
        }
        PayloadPart.Spent spent = LostAnswers.ended(d, step);
        SlotScheduling.close(d, step);
        Requests.abandon(d, step);
        d.move(step, StepState.CANCELLED, new StepPayload.Cancelled(spent));
    }

    /** All work of the task or of its children is done: computes its output. */
    static void evaluateOutput(Decision d, TaskRow task) {
        task.evaluating = true;
        d.evaluate(TimerKind.EVALUATE_TASK_OUTPUT, task.id());
    }
}
