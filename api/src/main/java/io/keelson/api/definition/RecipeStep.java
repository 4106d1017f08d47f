package io.keelson.api.definition;

import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A task of a recipe, for display (PRD-101).
 *
 * @param stepId id of the task in the plan
 * @param order position, from 1
 * @param promptTemplate title, description and success criteria of the task
 * @param agentId of an agent of the roster
 * @param modelOverride model of the task; null for the model of its agent
 * @param taskType kind of work
 * @param toolsNeeded names of tools
 * @param dependsOn ids of tasks in the plan
 * @param errorHandling handling of failures
 * @param passTo the first later task that depends on it
 */
public record RecipeStep(String stepId, @Range(min = 1) int order, String promptTemplate, @Nullable Integer agentId,
        @Nullable String modelOverride, @Nullable String taskType, List<String> toolsNeeded, List<String> dependsOn,
        ErrorHandling errorHandling, @Nullable String passTo) {

    /**
     * Handling of failures.
     *
     * @param onFailure effect of a failure on later tasks
     */
    public record ErrorHandling(@OneOf({"stop", "continue", "always_run"}) String onFailure) {}
}
