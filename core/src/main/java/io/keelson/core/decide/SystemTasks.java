package io.keelson.core.decide;

import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.TaskType;
import io.keelson.core.plan.TriggerRule;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tasks that the engine adds to a plan, so that hooks and planners run, retry and are metered like other work. */
final class SystemTasks {
    /** Name of their agent; no plan can have it, because agents' names do not begin with a dot. */
    static final String AGENT = ".engine";

    private SystemTasks() {}

    static boolean is(TaskSpec spec) {
        return AGENT.equals(spec.agent());
    }

    /** True for a planner's task. */
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
     * The task of one re-planning. Its key is unique, also in later attempts of the run, so that its effect keys do not
     * repeat.
     *
     * @param number of the re-planning in this attempt, from 1
     * @param instructions of the person who requested it; null if absent
     */
    static TaskSpec planning(StepSpec step, int attempt, int number, @Nullable String instructions) {
        return of(".plan-" + (attempt == 1 ? "" : attempt + ".") + number, "Make a new plan", instructions,
                TaskType.PLANNING, step);
    }

    /** @param number of the try, from 1 */
    static TaskSpec firstPlan(StepSpec step, int number) {
        return of(".planning-" + number, "Make the plan", TaskType.PLANNING, step);
    }

    private static TaskSpec of(String key, String title, TaskType type, StepSpec step) {
        return of(key, title, null, type, step);
    }

    private static TaskSpec of(String key, String title, @Nullable String description, TaskType type, StepSpec step) {
        return new TaskSpec(key, title, description, type, AGENT, List.of(), TriggerRule.ALL_SUCCESS, null, null, null,
                false,
                List.of(step), null);
    }
}
