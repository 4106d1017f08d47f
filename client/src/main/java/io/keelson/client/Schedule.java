package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A schedule of runs. JSON components are never Java null: an absent value is a JSON null.
 *
 * @param recipeId the recipe of its runs; null if it has a mission of its own
 * @param inputs null in a list if they are longer than 16,384 bytes
 * @param mission absent in lists
 * @param overlap {@code allow}, {@code skip}, {@code queue} or {@code cancel_running}
 * @param catchUp {@code skip}, {@code latest} or {@code all}
 * @param nextRunAt null when it is paused or over
 * @param runsMade for times of its own
 * @param timesMissed within the window, that made no run
 */
public record Schedule(String id, String workspaceId, String name, @Nullable String recipeId, JsonNode inputs,
        JsonNode mission, String cron, String timeZone, String overlap, String catchUp, long catchUpWindowSeconds,
        long jitterSeconds, @Nullable Instant endAt, @Nullable Integer maxRuns, boolean paused,
        @Nullable Instant nextRunAt, int runsMade, int timesMissed, int version, @Nullable String createdBy,
        Instant createdAt, Instant updatedAt) {

    public Schedule {
        inputs = Json.orNull(inputs);
        mission = Json.orNull(mission);
    }
}
