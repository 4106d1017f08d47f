package io.keelson.core.decide;

import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.TaskType;
import io.keelson.core.plan.TriggerRule;
import java.util.List;

/** Tasks that the engine itself adds to a plan, so that hooks and planners run, retry and are metered like any work. */
final class SystemTasks {
    /** Name of the agent that does them; no plan can have it, for names of agents do not begin with a dot. */
    static final String AGENT = ".engine";

    private SystemTasks() {}

    static boolean is(TaskSpec spec) {
        return AGENT.equals(spec.agent());
    }

    /** True for a planner's work. */
    static boolean plans(TaskRow task) {
        return is(task.spec()) && task.spec().taskType() == TaskType.PLANNING;
    }

    static TaskSpec before(StepSpec step) {
        return of(".before_run", "Before the run", TaskType.HOOK_BEFORE, step);
    }

    static TaskSpec after(StepSpec step) {
        return of(".after_run", "After the run", TaskType.HOOK_AFTER, step);
    }

    /**
     * Each re-planning has a key of its own, in later attempts of the run too: its effect keys must not repeat.
     *
     * @param number of the re-planning in this attempt, from 1
     */
    static TaskSpec planning(StepSpec step, int attempt, int number) {
        return of(".plan-" + (attempt == 1 ? "" : attempt + ".") + number, "Make a new plan", TaskType.PLANNING, step);
    }

    /** @param number of the try, from 1 */
    static TaskSpec firstPlan(StepSpec step, int number) {
        return of(".planning-" + number, "Make the plan", TaskType.PLANNING, step);
    }

    private static TaskSpec of(String key, String title, TaskType type, StepSpec step) {
        return new TaskSpec(key, title, null, type, AGENT, List.of(), TriggerRule.ALL_SUCCESS, null, null, null, false,
                List.of(step), null);
    }
}
