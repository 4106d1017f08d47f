package io.keelson.core.decide;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.run.OtherPayload;

/** Compares counters with the rows that they count. */
final class CounterAudit {
    private CounterAudit() {}

    /** Corrects a run's counters where they are wrong, with an event that says by how much. */
    static void check(Decision d) {
        RunRow run = d.run;
        RunView view = d.view;
        run.agentCount = right(d, "agent_count", run.agentCount,
                (int) view.agents.stream().filter(agent -> !agent.system()).count());
        run.taskCount = right(d, "task_count", run.taskCount,
                (int) view.tasks.values().stream().filter(task -> !task.system()).count());
        run.tasksCompleted = right(d, "tasks_completed", run.tasksCompleted, tasks(view, TaskState.COMPLETED));
        run.tasksFailed = right(d, "tasks_failed", run.tasksFailed, tasks(view, TaskState.FAILED));
        run.tasksSkipped = right(d, "tasks_skipped", run.tasksSkipped, tasks(view, TaskState.SKIPPED));
        run.stepCount = right(d, "steps_total", run.stepCount, view.steps.size());
        run.stepsCompleted = right(d, "steps_completed", run.stepsCompleted,
                (int) view.steps.values().stream().filter(step -> step.state == StepState.COMPLETED).count());
    }

    private static int tasks(RunView view, TaskState state) {
        return (int) view.tasks.values().stream().filter(task -> task.state == state && !task.system()).count();
    }

    private static int right(Decision d, String counter, int was, int is) {
        if (was != is) {
            d.note(new OtherPayload.CounterCorrected(counter, was, is));
        }
        return is;
    }
}
