package io.keelson.core.plan;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 *
 * A task as the plan describes it.
 *
 * @param id unique within the plan ({@code temp_id} in PRD-101)
 * @param agent name of the agent that should do it; null for the run's default agent
 * @param when an expression; false skips the task; null if absent
 * @param forEach an expression whose array fans the task out, one child per item; null if absent
 * @param output JSON text with expressions that makes the task's output; null: its last step's output
 * @param steps empty for an agentic task, which works in turns
 * @param parallelSteps true when the steps run side by side rather than in order
 * @param policy its rules for failures and for the judgement of its output
 */
public record TaskSpec(String id, String title, @Nullable String description, TaskType taskType, @Nullable String agent,
        List<Dependency> dependsOn, TriggerRule triggerRule, @Nullable String when, @Nullable String forEach,
        @Nullable String output, boolean parallelSteps, List<StepSpec> steps, @Nullable String successCriteria,
        TaskPolicy policy) {

    public TaskSpec {
        dependsOn = List.copyOf(dependsOn);
        steps = List.copyOf(steps);
    }

    /** A task with the default policy. */
    public TaskSpec(String id, String title, @Nullable String description, TaskType taskType, @Nullable String agent,
            List<Dependency> dependsOn, TriggerRule triggerRule, @Nullable String when, @Nullable String forEach,
            @Nullable String output, boolean parallelSteps, List<StepSpec> steps, @Nullable String successCriteria) {
        this(id, title, description, taskType, agent, dependsOn, triggerRule, when, forEach, output, parallelSteps,
                steps, successCriteria, TaskPolicy.DEFAULT);
    }

    /** A copy with another policy. */
    public TaskSpec with(TaskPolicy other) {
        return new TaskSpec(id, title, description, taskType, agent, dependsOn, triggerRule, when, forEach, output,
                parallelSteps, steps, successCriteria, other);
    }

    /** A copy with another title. */
    public TaskSpec titled(String other) {
        return new TaskSpec(id, other, description, taskType, agent, dependsOn, triggerRule, when, forEach, output,
                parallelSteps, steps, successCriteria, policy);
    }
}
