package io.keelson.server.mission.recipe;

import java.math.BigDecimal;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A recipe to be kept, its mission already checked.
 *
 * @param mission the shape of a mission file, with its name
 * @param lineage the run that it was saved from; null if absent
 */
public record NewRecipe(UUID id, UUID workspaceId, ObjectNode mission, @Nullable Lineage lineage, String createdBy) {

    /**
     * A completed run and its cost, as a comparison for runs of the recipe.
     *
     * @param cost in credits
     */
    public record Lineage(UUID run, BigDecimal cost, long tokens, long durationMs, String completedAt) {}

    String name() {
        return mission.path("name").asString("");
    }

    @Nullable String description() {
        return mission.path("goal").asString(mission.path("task").asString(mission.path("description").asString(null)));
    }
}
