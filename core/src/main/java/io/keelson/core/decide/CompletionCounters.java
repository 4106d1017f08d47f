package io.keelson.core.decide;

import io.keelson.core.lifecycle.TaskState;
import java.util.Comparator;

/** What tasks know of the ends of those before them, and agents of the ends of their tasks; follows from the rows alone. */
final class CompletionCounters {

    private CompletionCounters() {}

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

    /** An agent's task that had ended is open again. */
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

    /** An upstream of a task has ended. One that was passed over has failed for the rules that ask for failures. */
    static void countUpstream(TaskRow task, TaskRow ended) {
        if (ended.state == TaskState.COMPLETED) {
            task.upstreamsCompleted++;
        } else if (ended.state == TaskState.FAILED || ended.failureIgnored) {
            task.upstreamsFailed++;
        }
    }

    /** Puts another upstream in the place of one. */
    static void relink(TaskRow task, TaskRow old, TaskRow upstream) {
        task.upstreams.remove(old);
        old.downstreams.remove(task);
        task.upstreams.add(upstream);
        upstream.downstreams.add(task);
        recountUpstreams(task);
    }

    /** Forgets links to tasks that are no part of the run's present any more; the others stand in plan order. */
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
