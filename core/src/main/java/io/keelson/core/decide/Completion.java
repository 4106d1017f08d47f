package io.keelson.core.decide;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.run.AgentPayload;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.TaskPayload;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Handles the ends of tasks: judges downstream tasks, ends agents and the run. Cascades iterate over a list instead of
 * recursing, because plans may be ten thousand tasks deep.
 */
final class Completion {
    private Completion() {}

    /**
     * A task has completed.
     *
     * @param feedback of its verifier; null if absent
     */
    static void completed(Decision d, TaskRow task, @Nullable String feedback) {
        BigDecimal cost = task.cost.stripTrailingZeros();
        if (task.state == TaskState.VERIFYING) {
            d.move(task, TaskState.COMPLETED,
                    new TaskPayload.VerificationPassed(task.verifierScore, feedback, task.tokens, cost));
        } else if (allSkipped(task)) {
            nothingDone(d, task);
        } else {
            d.move(task, TaskState.COMPLETED, new TaskPayload.Completed(task.tokens, cost));
        }
        ended(d, List.of(task));
    }

    /** A person has approved a task's output. */
    static void approved(Decision d, TaskRow task, @Nullable String reason) {
        d.move(task, TaskState.COMPLETED, new TaskPayload.HumanApproved(d.by(), reason, task.tokens,
                task.cost.stripTrailingZeros()));
        ended(d, List.of(task));
    }

    /** Whether nothing was done in a running task: all its work was skipped or failed with the failure ignored. */
    private static boolean allSkipped(TaskRow task) {
        if (task.state != TaskState.RUNNING) {
            return false;
        }
        if (task.isLoop()) {
            return task.lastRound().stream().allMatch(c -> c.state == TaskState.SKIPPED || c.failureIgnored);
        }
        if (task.isGroup()) {
            return !task.children.isEmpty()
                    && task.children.stream().allMatch(c -> c.state == TaskState.SKIPPED || c.failureIgnored);
        }
        return !task.steps.isEmpty()
                && task.steps.stream().allMatch(s -> s.state == StepState.SKIPPED || s.failureIgnored);
    }

    /**
     * A task is skipped with all its work. If part of that failed and was ignored, the task is failed and ignored, too,
     * with the first such error. A repeat after a rejected step renews its effects.
     */
    private static void nothingDone(Decision d, TaskRow task) {
        PayloadPart.Cause cause = IgnoredFailure.within(task);
        if (cause != null) {
            task.failureIgnored = true;
            task.errorCode = cause.errorCode();
            task.errorMessage = cause.errorMessage();
            task.errorClass = cause.errorClass();
            task.effectGeneration += IgnoredFailure.rejected(task) ? 1 : 0;
        }
        d.move(task, TaskState.SKIPPED, new TaskPayload.Skipped(
                cause == null ? "all its work was skipped" : "its work failed and the run continued without it", null,
                "steps", null, null, cause));
    }

    /** One task, or all open ones of a list, are cancelled on request; downstream tasks are judged. */
    static void cancelled(Decision d, List<TaskRow> tasks, TaskPayload.Cancelled why) {
        List<TaskRow> ended = new ArrayList<>();
        for (TaskRow task : tasks) {
            if (!task.terminal()) {
                task.children.stream().filter(child -> !child.terminal())
                        .forEach(child -> TaskMoves.cancel(d, child, why, ended));
                TaskMoves.cancel(d, task, why, ended);
            }
        }
        ended(d, ended);
    }

    /**
     * Counts newly terminal tasks, evaluates the tasks that waited for them, and ends the agents and the run if
     * complete.
     */
    static void ended(Decision d, Collection<TaskRow> first) {
        Deque<TaskRow> todo = new ArrayDeque<>(first);
        while (!todo.isEmpty()) {
            TaskRow task = todo.poll();
            count(d, task);
            if (SystemTasks.plans(task)) {
                plannerEnded(d, task);
            }
            TaskRow group = task.group();
            if (group != null && --group.childrenOpen == 0 && group.state == TaskState.RUNNING) {
                if (group.isLoop()) {
                    Rounds.ended(d, group, todo);
                } else {
                    TaskMoves.evaluateOutput(d, group);
                }
            }
            if (task.isRepeatedGroup()) {
                Rounds.skipRest(d, task, todo);
            }
            for (TaskRow down : task.downstreams) {
                down.upstreamsOpen--;
                CompletionCounters.countUpstream(down, task);
                judge(d, down, todo);
            }
            if (task == d.view.beforeHook) {
                for (TaskRow other : List.copyOf(d.view.tasks.values())) {
                    judge(d, other, todo);
                }
            }
        }
        settle(d);
    }

    private static void plannerEnded(Decision d, TaskRow planner) {
        if (planner.state != TaskState.COMPLETED) {
            d.failedPlanner = planner;
        } else if (d.atWork()) {
            Replanning.checkAnswer(d);
        }
    }

    private static void count(Decision d, TaskRow task) {
        AgentRow agent = task.agent();
        d.view.tasksOpen--;
        agent.tasksOpen--;
        CompletionCounters.count(agent, task);
        CompletionCounters.countEnd(d.run, task, 1);
        if (!task.system()) {
            EventPayloads.snapshotAfter(d);
        }
        SlotScheduling.free(d, task);
        end(d, agent);
    }

    /** Judges every task that may be ready: at the start of an attempt and when a run resumes. */
    static void judgeAll(Decision d) {
        Deque<TaskRow> skipped = new ArrayDeque<>();
        for (TaskRow task : List.copyOf(d.view.tasks.values())) {
            if (d.carriedOut()) {
                judge(d, task, skipped);
            }
        }
        ended(d, List.copyOf(skipped));
    }

    static void judge(Decision d, TaskRow task, Collection<TaskRow> ended) {
        boolean always = task.spec().triggerRule() == TriggerRule.ALWAYS;
        if (!d.carriedOut() || task.state != TaskState.PENDING || task.evaluating
                || task.upstreamsOpen > 0 && !always || task == d.view.afterHook || task.agent().nextRunAt != null
                || Replanning.holds(d, task) || !hasBegun(d, task)
                || task.group() != null && task.group().state != TaskState.RUNNING) {
            return;
        }
        if (!task.spec().triggerRule().holds(task.upstreams.size(), task.upstreamsCompleted, task.upstreamsFailed)) {
            d.move(task, TaskState.SKIPPED, new TaskPayload.Skipped(task.spec().triggerRule().wire() + " does not hold",
                    EventPayloads.failedDependency(task), "trigger_rule", null, null, null));
            TaskMoves.cancelSteps(d, task);
            ended.add(task);
        } else if (task.spec().when() != null || task.spec().forEach() != null || task.isLoop()
                || task.isMember() && Rounds.mayRepeatEffects(d, task)) {
            task.evaluating = true;
            d.evaluate(TimerKind.EVALUATE_GATE, task.id());
        } else {
            TaskMoves.queue(d, task);
        }
    }

    /** A task is skipped because its {@code when} was false or a person skips it. */
    static void skipped(Decision d, TaskRow task, TaskPayload.Skipped why) {
        TaskMoves.forget(d, task);
        TaskMoves.cancelSteps(d, task);
        d.move(task, TaskState.SKIPPED, why);
        ended(d, List.of(task));
    }

    /**
     * Ends an agent all of whose tasks have ended; not while the run is paused. The last agent stays open until the
     * run's result is present and accepted: a running run has a running agent, and a failed run a failed one.
     */
    static void end(Decision d, AgentRow agent) {
        if (!answersForResult(d, agent)) {
            conclude(d, agent);
        }
    }

    private static boolean answersForResult(Decision d, AgentRow agent) {
        boolean open = d.run.outputTemplate() != null || d.run.policy().humans().accept();
        return open && !d.run.failing && !agent.system()
                && d.view.agents.stream().allMatch(each -> each == agent || each.system() || each.state.terminal());
    }

    private static void conclude(Decision d, AgentRow agent) {
        if (!d.carriedOut() || agent.tasksOpen > 0 || agent.state.terminal()) {
            return;
        }
        AgentState end;
        if (agent.tasksFailed > 0 || agent.failing) {
            if (d.run.gate != RunRow.Gate.NONE && d.run.gate != RunRow.Gate.ACCEPTANCE) {
                return;
            }
            end = AgentState.FAILED;
            agent.failureIgnored = !d.run.failing && d.run.policy().failures().run() == FailureMode.CONTINUE;
        } else if (agent.tasksCancelled + agent.tasksSkipped < agent.tasks) {
            end = AgentState.COMPLETED;
        } else {
            end = agent.tasksCancelled > 0 ? AgentState.CANCELLED : AgentState.SKIPPED;
        }
        if (end == AgentState.FAILED || end == AgentState.COMPLETED) {
            SlotScheduling.start(d, agent);
        }
        d.move(agent, end, switch (end) {
            case FAILED -> new AgentPayload.Failed(agent.failureIgnored);
            case CANCELLED -> new AgentPayload.Cancelled();
            case SKIPPED -> new AgentPayload.Skipped();
            case COMPLETED, PENDING, RUNNING, PAUSED -> new AgentPayload.Completed();
        });
    }

    /** Ends a running run whose tasks have all ended, its output first. */
    static void settle(Decision d) {
        TaskRow hook = d.view.afterHook;
        boolean hookWaits = hook != null && hook.state == TaskState.PENDING;
        if (!d.carriedOut() || d.view.tasksOpen > (hookWaits ? 1 : 0) || d.view.evaluatingOutput
                || d.view.evaluatingPlan || d.run.gate != RunRow.Gate.NONE) {
            return;
        }
        if (hook != null && hookWaits) {
            TaskMoves.queue(d, hook);
            return;
        }
        d.view.agents.forEach(agent -> end(d, agent));
        d.begin();
        if (d.run.failing) {
            RunEnd.end(d, RunState.FAILED, RunEnd.failed(d, "task_failed", null, null, null));
            if (d.run.policy().failures().run() == FailureMode.RETRY && AttemptRestarts.runMay(d)) {
                AttemptRestarts.retryRun(d);
            } else {
                Undoing.ended(d);
            }
        } else if (onlyCancelled(d)) {
            d.view.agents.forEach(agent -> conclude(d, agent));
            RunEnd.cancelRun(d,
                    d.view.tasks.values().stream().filter(task -> task.state == TaskState.CANCELLED).findFirst()
                            .map(task -> task.errorMessage).orElse(null));
        } else if (d.run.outputTemplate() != null) {
            d.view.evaluatingOutput = true;
            d.evaluate(TimerKind.EVALUATE_RUN_OUTPUT, d.run.id());
        } else {
            accept(d);
        }
    }

    /** True when people cancelled work and nothing else was done: all tasks are cancelled or skipped, without a failure. */
    private static boolean onlyCancelled(Decision d) {
        List<AgentRow> agents = d.view.agents.stream().filter(agent -> !agent.system()).toList();
        return agents.stream().anyMatch(agent -> agent.tasksCancelled > 0) && agents.stream()
                .allMatch(agent -> !agent.failing && agent.tasksCancelled + agent.tasksSkipped == agent.tasks)
                && IgnoredFailure.in(d.view).findAny().isEmpty();
    }

    /** Completes the run, or first asks a person to accept its output if required. */
    static void accept(Decision d) {
        if (!d.run.policy().humans().accept()) {
            complete(d);
            return;
        }
        d.run.gate = RunRow.Gate.ACCEPTANCE;
        d.note(new RunPayload.AcceptanceRequested());
        d.ask(d.run.id());
    }

    static void complete(Decision d) {
        d.run.gate = RunRow.Gate.NONE;
        d.view.agents.forEach(agent -> conclude(d, agent));
        List<AgentRow> agents = d.view.agents.stream().filter(agent -> !agent.system()).toList();
        boolean nothingDone = !agents.isEmpty()
                && agents.stream().allMatch(agent -> agent.state == AgentState.SKIPPED || agent.failureIgnored
                        || agent.state == AgentState.CANCELLED);
        RunEnd.end(d, nothingDone ? RunState.SKIPPED : RunState.COMPLETED, credits -> nothingDone
                ? new RunPayload.Skipped(totals(d), credits)
                : new RunPayload.Completed(totals(d), credits));
        Undoing.ended(d);
    }

    private static PayloadPart.Totals totals(Decision d) {
        return new PayloadPart.Totals(d.run.cost.stripTrailingZeros(), d.run.tokens.total(),
                d.run.startedAt == null ? null : Duration.between(d.run.startedAt, d.now).minus(d.run.ended).toMillis(),
                d.run.tasksCompleted, d.run.tasksFailed, d.run.failures);
    }

    /** True when the run's first hook allows the task to begin. */
    static boolean hasBegun(Decision d, TaskRow task) {
        TaskRow hook = d.view.beforeHook;
        return hook == null || task.system() || hook.terminal();
    }
}
