package io.keelson.core.run;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.TriggerRule;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What follows when tasks end: downstreams are judged, agents and the run come to their end. Cascades run over a list,
 * never by recursion, for plans may be ten thousand tasks deep.
 */
final class Endings {

    private Endings() {}

    /** A task has completed. */
    static void completed(Decision d, TaskRow task) {
        d.move(task, TaskState.COMPLETED, Map.of("tokens", task.tokens, "cost", task.cost.toPlainString()));
        ended(d, List.of(task));
    }

    /** A task has failed for good; under {@code fail_fast} that ends the run (failure §4). */
    static void failed(Decision d, TaskRow task, StepError error) {
        List<TaskRow> ended = new ArrayList<>();
        fail(d, task, error, ended);
        TaskRow group = task.group();
        if (group != null && !group.terminal()) {
            group.children.stream().filter(child -> !child.terminal()).forEach(child -> cancel(d, child, ended));
            fail(d, group, error, ended);
        }
        if (!d.run.failing) {
            d.run.failing = true;
            d.run.errorCode = error.code();
            d.run.errorMessage = "task '" + task.key() + "' failed: " + error.message();
            Set<TaskRow> kept = keptAfter(d, group == null ? task : group);
            for (TaskRow other : List.copyOf(d.view.tasks.values())) {
                if (!other.terminal() && !kept.contains(other)) {
                    cancel(d, other, ended);
                }
            }
        }
        ended(d, ended);
    }

    private static void fail(Decision d, TaskRow task, StepError error, List<TaskRow> ended) {
        task.errorCode = error.code();
        task.errorMessage = error.message();
        cancelSteps(d, task);
        d.move(task, TaskState.FAILED, Map.of("error_code", error.code(), "error_class", error.errorClass().wire(),
                "error_message", error.message()));
        ended.add(task);
    }

    /** Open tasks that exist for the case of a failure: {@code always}, and {@code all_done} downstream of it. */
    private static Set<TaskRow> keptAfter(Decision d, TaskRow failed) {
        Set<TaskRow> kept = new HashSet<>();
        for (TaskRow task : d.view.tasks.values()) {
            if (task.spec().triggerRule() == TriggerRule.ALWAYS) {
                kept.add(task);
            }
        }
        Deque<TaskRow> todo = new ArrayDeque<>(List.of(failed));
        Set<TaskRow> seen = new HashSet<>();
        while (!todo.isEmpty()) {
            for (TaskRow down : todo.poll().downstreams) {
                if (seen.add(down)) {
                    todo.add(down);
                    if (down.spec().triggerRule() == TriggerRule.ALL_DONE) {
                        kept.add(down);
                    }
                }
            }
        }
        return kept;
    }

    private static void cancel(Decision d, TaskRow task, List<TaskRow> ended) {
        cancelSteps(d, task);
        d.move(task, TaskState.CANCELLED, Map.of());
        ended.add(task);
    }

    static void cancelSteps(Decision d, TaskRow task) {
        for (StepRow step : task.steps) {
            if (!step.state.terminal()) {
                Steps.cancel(d, step);
            }
        }
        if (task.state == TaskState.CONTINUING) {
            d.disarm(TimerKind.TASK_CONTINUE, task.id());
        }
        if (task.evaluating) {
            task.evaluating = false;
            d.disarm(TimerKind.EVALUATE_GATE, task.id());
            d.disarm(TimerKind.EVALUATE_TASK_OUTPUT, task.id());
        }
    }

    /** Counts tasks that have just become terminal, judges what waited for them and settles what that brings to an end. */
    private static void ended(Decision d, Collection<TaskRow> first) {
        Deque<TaskRow> todo = new ArrayDeque<>(first);
        while (!todo.isEmpty()) {
            TaskRow task = todo.poll();
            count(d, task);
            TaskRow group = task.group();
            if (group != null && --group.childrenOpen == 0 && group.state == TaskState.RUNNING) {
                Steps.finish(d, group);
            }
            for (TaskRow down : task.downstreams) {
                down.upstreamsOpen--;
                RunView.countUpstream(down, task.state);
                judge(d, down, todo);
            }
        }
        settle(d);
    }

    private static void count(Decision d, TaskRow task) {
        AgentRow agent = task.agent();
        d.view.tasksOpen--;
        agent.tasksOpen--;
        RunView.count(agent, task.state);
        switch (task.state) {
            case COMPLETED -> d.run.tasksCompleted++;
            case FAILED -> d.run.tasksFailed++;
            case SKIPPED -> d.run.tasksSkipped++;
            default -> {
            }
        }
        Lanes.free(d, task);
        end(d, agent);
    }

    /** Judges every task that may be ready: at the start of an attempt and when a run resumes. */
    static void judgeAll(Decision d) {
        Deque<TaskRow> skipped = new ArrayDeque<>();
        for (TaskRow task : List.copyOf(d.view.tasks.values())) {
            if (d.run.state == RunState.RUNNING) {
                judge(d, task, skipped);
            }
        }
        ended(d, List.copyOf(skipped));
    }

    private static void judge(Decision d, TaskRow task, Collection<TaskRow> ended) {
        boolean always = task.spec().triggerRule() == TriggerRule.ALWAYS;
        if (d.run.state != RunState.RUNNING || task.state != TaskState.PENDING || task.evaluating
                || task.upstreamsOpen > 0 && !always) {
            return;
        }
        if (!task.spec().triggerRule().holds(task.upstreams.size(), task.upstreamsCompleted, task.upstreamsFailed)) {
            d.move(task, TaskState.SKIPPED, Map.of("reason", "trigger_rule", "skipped_because",
                    task.spec().triggerRule().wire() + " does not hold"));
            cancelSteps(d, task);
            ended.add(task);
        } else if (task.spec().when() != null || task.spec().forEach() != null) {
            task.evaluating = true;
            d.evaluate(TimerKind.EVALUATE_GATE, task.id());
        } else {
            queue(d, task);
        }
    }

    static void queue(Decision d, TaskRow task) {
        d.move(task, TaskState.QUEUED, Map.of());
        Lanes.ready(d, task);
    }

    /** {@code when} was false. */
    static void skipped(Decision d, TaskRow task) {
        d.move(task, TaskState.SKIPPED, Map.of("reason", "when"));
        cancelSteps(d, task);
        ended(d, List.of(task));
    }

    /** Ends an agent all of whose tasks have ended; not while the run is paused. */
    static void end(Decision d, AgentRow agent) {
        if (d.run.state != RunState.RUNNING || agent.tasksOpen > 0 || agent.state.terminal()) {
            return;
        }
        AgentState end;
        if (agent.tasksFailed > 0) {
            end = AgentState.FAILED;
        } else if (agent.tasksCancelled > 0) {
            end = AgentState.CANCELLED;
        } else {
            end = agent.tasksSkipped == agent.tasks ? AgentState.SKIPPED : AgentState.COMPLETED;
        }
        if (end == AgentState.FAILED || end == AgentState.COMPLETED) {
            Lanes.start(d, agent);
        }
        d.move(agent, end, Map.of());
    }

    /** Ends a running run whose tasks have all ended, its output first. */
    static void settle(Decision d) {
        if (d.run.state != RunState.RUNNING || d.view.tasksOpen > 0 || d.view.evaluatingOutput) {
            return;
        }
        d.view.agents.forEach(agent -> end(d, agent));
        if (d.run.failing) {
            end(d, RunState.FAILED, Map.of("error_code", String.valueOf(d.run.errorCode), "error_message",
                    String.valueOf(d.run.errorMessage)));
        } else if (d.run.outputTemplate() != null) {
            d.view.evaluatingOutput = true;
            d.evaluate(TimerKind.EVALUATE_RUN_OUTPUT, d.run.id());
        } else {
            complete(d);
        }
    }

    static void complete(Decision d) {
        boolean nothingDone = !d.view.agents.isEmpty()
                && d.view.agents.stream().allMatch(agent -> agent.state == AgentState.SKIPPED);
        end(d, nothingDone ? RunState.SKIPPED : RunState.COMPLETED,
                Map.of("total_tokens", d.run.tokens, "total_cost", d.run.cost.toPlainString(), "tasks_completed",
                        d.run.tasksCompleted, "tasks_failed", d.run.tasksFailed));
    }

    /** The run ends: nothing of it stays in the queue or among the timers. */
    static void end(Decision d, RunState state, Map<String, Object> detail) {
        boolean begun = d.run.state != RunState.CREATED;
        d.move(state, detail);
        d.changes.clear(d.run.id());
        if (begun) {
            Planning.recordAttempt(d);
        }
    }

    /** Ends the run and everything in it that is still open. */
    static void abandon(Decision d, RunState end, Map<String, Object> detail) {
        for (TaskRow task : d.view.tasks.values()) {
            if (!task.terminal()) {
                cancelSteps(d, task);
                d.move(task, TaskState.CANCELLED, Map.of());
                d.view.tasksOpen--;
                task.agent().tasksOpen--;
            }
        }
        for (AgentRow agent : d.view.agents) {
            if (!agent.state.terminal()) {
                d.move(agent, AgentState.CANCELLED, Map.of());
            }
        }
        end(d, end, detail);
    }
}
