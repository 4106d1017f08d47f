package io.keelson.core.decide;

import io.keelson.core.lifecycle.TaskState;
import java.util.Comparator;

/** Counters of tasks about their upstream tasks, and of agents and the run about their tasks; derived from the rows alone. */
final class CompletionCounters {

    private CompletionCounters() {}

    /** A task of the run was added ({@code by} 1) or dropped (-1); the engine's own tasks do not count. */
    static void countTask(RunRow run, TaskRow task, int by) {
        run.taskCount += task.system() ? 0 : by;
    }

    /** A task of the run has ended ({@code by} 1) or was dropped (-1); the engine's own tasks do not count. */
    static void countEnd(RunRow run, TaskRow task, int by) {
        if (task.system()) {
            return;
        }
        switch (task.state) {
            case COMPLETED -> run.tasksCompleted += by;
            case FAILED -> run.tasksFailed += by;
            case SKIPPED -> run.tasksSkipped += by;
            default -> {
            }
        }
    }

    /** An agent's task has ended. */
    static void count(AgentRow agent, TaskRow ended) {
        switch (ended.state) {
            case FAILED -> {
                if (ended.failureIgnored) {
                    agent.tasksSkipped++;
                } else {
                    agent.tasksFailed++;
                }
            }
            case SKIPPED -> agent.tasksSkipped++;
            case CANCELLED -> agent.tasksCancelled++;
            default -> {
            }
        }
    }

    /** An agent's ended task is open again. */
    static void uncount(AgentRow agent, TaskRow ended) {
        switch (ended.state) {
            case FAILED -> {
                if (ended.failureIgnored) {
                    agent.tasksSkipped--;
                } else {
                    agent.tasksFailed--;
                }
            }
            case SKIPPED -> agent.tasksSkipped--;
            case CANCELLED -> agent.tasksCancelled--;
            default -> {
            }
        }
    }

    /** An upstream task has ended. A failed one counts as failed for failure rules, even if its failure was ignored. */
    static void countUpstream(TaskRow task, TaskRow ended) {
        if (ended.state == TaskState.COMPLETED) {
            task.upstreamsCompleted++;
        } else if (ended.state == TaskState.FAILED || ended.failureIgnored) {
            task.upstreamsFailed++;
        }
    }

    /** Replaces one upstream task by another. */
    static void relink(TaskRow task, TaskRow old, TaskRow upstream) {
        task.upstreams.remove(old);
        old.downstreams.remove(task);
        task.upstreams.add(upstream);
        upstream.downstreams.add(task);
        recountUpstreams(task);
    }

    /** Removes links to tasks that are no longer part of the attempt; the others stay in plan order. */
    static void forgetSuperseded(RunView view) {
        for (TaskRow task : view.tasks.values()) {
            task.downstreams.removeIf(down -> down.superseded);
            task.downstreams.sort(Comparator.comparing(TaskRow::sequence));
            if (task.upstreams.removeIf(up -> up.superseded)) {
                recountUpstreams(task);
            }
        }
    }

    private static void recountUpstreams(TaskRow task) {
        task.upstreamsOpen = 0;
        task.upstreamsCompleted = 0;
        task.upstreamsFailed = 0;
        for (TaskRow each : task.upstreams) {
            if (each.terminal()) {
                countUpstream(task, each);
            } else {
                task.upstreamsOpen++;
            }
        }
    }
}
