package io.keelson.core.decide;

import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.run.Actor;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.Seconds;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TaskPayload;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * Propagates a task's final failure: ignore it, restart its agent, replan the run, or fail agent and run.
 */
final class Propagation {
    private Propagation() {}

    static void failed(Decision d, TaskRow task, StepError error) {
        failed(d, task, error, PayloadPart.Failure.of(error));
    }

    /**
     * A task has failed for good: ignores the failure, restarts its agent, replans the run, or fails agent and run.
     *
     * @param failure the event's error, and the decision if a policy was asked
     */
    static void failed(Decision d, TaskRow task, StepError error, PayloadPart.Failure failure) {
        failed(d, task, error, failure, d.run.policy().failures().agent(task.agent().name()));
    }

    /** A task has failed for good, and a new plan is asked for at once. */
    static void replan(Decision d, TaskRow task, StepError error, PayloadPart.Failure failure) {
        List<TaskRow> ended = new ArrayList<>();
        fail(d, task, error, failure, false, ended);
        task.agent().failing = true;
        d.changes.touch(task.agent());
        Replanning.begin(d, "task '" + task.key() + "' failed: " + error.code());
        Completion.ended(d, ended);
    }

    static void failed(Decision d, TaskRow task, StepError error, PayloadPart.Failure failure, FailureMode mode) {
        TaskRow group = task.group() == null || task.group().terminal() ? null : task.group();
        boolean over = task == d.view.afterHook
                || group != null && group.spec().policy().failureMode() == FailureMode.CONTINUE;
        List<TaskRow> ended = new ArrayList<>();
        task.children.stream().filter(child -> !child.terminal())
                .forEach(child -> TaskMoves.cancel(d, child, because(task), ended));
        fail(d, task, error, failure, over || !task.system() && mode == FailureMode.CONTINUE, ended);
        if (over) {
            Completion.ended(d, ended);
            return;
        }
        boolean restarts = mode == FailureMode.RETRY && AttemptRestarts.agentMay(d, task.agent(), error);
        boolean finishes = mode == FailureMode.CONTINUE
                || !restarts && !Replanning.underWay(d) && !Replanning.isRequired(d, task.agent());
        if (group != null) {
            group.children.stream().filter(child -> !child.terminal() && !(finishes && finishes(d, child)))
                    .forEach(child -> TaskMoves.cancel(d, child, because(task), ended));
            fail(d, group, error, PayloadPart.Failure.of(error), mode == FailureMode.CONTINUE, ended);
        }
        if (SystemTasks.plans(task)) {
            task.failureIgnored = true;
            Completion.ended(d, ended);
        } else if (task.system()) {
            failFast(d, task, error, true, ended);
        } else if (mode == FailureMode.CONTINUE) {
            Completion.ended(d, ended);
        } else if (d.run.failing || task.agent().failing) {
            Completion.ended(d, ended);
        } else if (restarts) {
            ended.forEach(each -> uncount(d, each));
            AttemptRestarts.startOver(d, task.agent(), error);
            Completion.settle(d);
        } else if (Replanning.underWay(d) || Replanning.isRequired(d, task.agent())) {
            task.agent().failing = true;
            d.changes.touch(task.agent());
            if (!Replanning.underWay(d)) {
                Replanning.begin(d, "task '" + task.key() + "' failed: " + error.code());
            }
            Completion.ended(d, ended);
        } else {
            failFast(d, group == null ? task : group, error, d.run.policy().failures().run() != FailureMode.CONTINUE,
                    ended);
        }
    }

    /**
     * Whether a task continues when another one fails: it is at work and has a cost, or its open steps may have one. A
     * run that starts over would repeat the work.
     */
    private static boolean finishes(Decision d, TaskRow task) {
        return d.run.policy().failures().run() != FailureMode.RETRY && task.steps.stream().anyMatch(
                step -> step.queued && task.cost.signum() > 0
                        || step.isHeld() && Holds.countedCost(d.funds.prices(), step).signum() > 0);
    }

    /**
     * Skips tasks downstream of the failed one and cancels the other open tasks, in its agent or in the whole run.
     * Tasks that exist for this case, and paid work, stay open.
     */
    private static void failFast(Decision d, TaskRow failed, StepError error, boolean whole, List<TaskRow> ended) {
        AgentRow agent = failed.agent();
        agent.failing = true;
        d.changes.touch(agent);
        if (whole) {
            d.run.failing = true;
            remember(d, failed, error);
        }
        Set<TaskRow> below = below(failed);
        Set<TaskRow> kept = keptAfter(d, below);
        for (TaskRow other : List.copyOf(d.view.tasks.values())) {
            if (other.terminal() || kept.contains(other) || !whole && other.agent() != agent || finishes(d, other)) {
                continue;
            }
            if (other.state == TaskState.PENDING && below.contains(other)) {
                TaskMoves.skip(d, other, failed, ended);
            } else {
                TaskMoves.cancel(d, other, because(failed), ended);
            }
        }
        Completion.ended(d, ended);
    }

    private static void remember(Decision d, TaskRow failed, StepError error) {
        d.run.errorCode = error.code();
        d.run.errorMessage = "task '" + failed.key() + "' failed: " + error.message();
    }

    /** Replanning failed: the failures that requested it are propagated. The first may start the run's next attempt. */
    static void failWhatFailed(Decision d, StepError error) {
        Set<AgentRow> seen = new HashSet<>();
        for (TaskRow task : List.copyOf(d.view.tasks.values())) {
            if (d.view.tasks.containsKey(task.id()) && task.state == TaskState.FAILED && !task.failureIgnored
                    && task.agent().failing && !task.system() && !d.run.failing && seen.add(task.agent())) {
                failFast(d, task, new StepError(Objects.requireNonNullElse(task.errorCode, error.code()),
                        error.errorClass(), Objects.requireNonNullElse(task.errorMessage, error.message())),
                        d.run.policy().failures().run() != FailureMode.CONTINUE, new ArrayList<>());
            }
        }
        Completion.judgeAll(d);
        Completion.settle(d);
    }

    /** An agent's time is over: it fails itself, even where it would ignore a failed task. */
    static void timedOut(Decision d, AgentRow agent) {
        StepError error = new StepError("AGENT_TIMEOUT", ErrorClass.INFRASTRUCTURE,
                "the agent was at work for longer than " + Seconds.of(d.run.policy().timeouts().agent()));
        FailureMode mode = d.run.policy().failures().agent(agent.name()) == FailureMode.RETRY ? FailureMode.RETRY
                : FailureMode.FAIL_FAST;
        d.view.tasks.values().stream().filter(task -> task.agent() == agent && RunView.hasBegun(task)).findFirst()
                .ifPresent(begun -> {
                    TaskRow task = begun.group() == null || begun.group().terminal() ? begun : begun.group();
                    if (task.state == TaskState.QUEUED) {
                        d.move(task, TaskState.ASSIGNED, EventPayloads.assigned(task, null));
                    }
                    failed(d, task, error, PayloadPart.Failure.of(error), mode);
                });
    }

    private static void fail(Decision d, TaskRow task, StepError error, PayloadPart.Failure failure, boolean over,
            List<TaskRow> ended) {
        task.errorCode = error.code();
        task.errorMessage = error.message();
        task.errorClass = error.errorClass().wire();
        task.failureIgnored = over;
        TaskMoves.cancelSteps(d, task);
        TaskMoves.forget(d, task);
        d.move(task, TaskState.FAILED,
                new TaskPayload.Failed(task.attempt, task.cost.stripTrailingZeros(), failure, over));
        ended.add(task);
    }

    private static TaskPayload.Cancelled because(TaskRow failed) {
        return new TaskPayload.Cancelled(Actor.SYSTEM.name(), "task '" + failed.key() + "' failed", false);
    }

    /** Removes an ended task that restarts from the counters of its downstream tasks. */
    private static void uncount(Decision d, TaskRow task) {
        d.view.tasksOpen--;
        task.agent().tasksOpen--;
        CompletionCounters.count(task.agent(), task);
        CompletionCounters.countEnd(d.run, task, 1);
        SlotScheduling.leave(d, task);
    }

    /** Open tasks that exist for failures: {@code always}, and {@code all_done} downstream of the failed task. */
    private static Set<TaskRow> keptAfter(Decision d, Set<TaskRow> below) {
        Set<TaskRow> kept = new HashSet<>();
        for (TaskRow task : d.view.tasks.values()) {
            TriggerRule rule = ruleInPlan(task);
            if (rule == TriggerRule.ALWAYS || task == d.view.afterHook
                    || rule == TriggerRule.ALL_DONE && below.contains(task)) {
                kept.add(task);
            }
        }
        return kept;
    }

    /** The rule of a task; of a task in a round of a group, that of the group. */
    private static TriggerRule ruleInPlan(TaskRow task) {
        TaskRow group = task.group();
        return (group == null ? task : group).spec().triggerRule();
    }

    /** All tasks downstream of a task, directly or not, with their children. */
    private static Set<TaskRow> below(TaskRow task) {
        Deque<TaskRow> todo = new ArrayDeque<>(List.of(task));
        Set<TaskRow> seen = new HashSet<>();
        while (!todo.isEmpty()) {
            for (TaskRow down : todo.poll().downstreams) {
                if (seen.add(down)) {
                    todo.add(down);
                    seen.addAll(down.children);
                }
            }
        }
        return seen;
    }
}
