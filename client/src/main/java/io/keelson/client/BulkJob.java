package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A command to many runs, with its progress. JSON components are never Java null: an absent value is a JSON null.
 *
 * @param action {@code cancel} or {@code retry}
 * @param state {@code running}, {@code completed} or {@code stopped}
 * @param matches the number of matching runs at its creation
 * @param matchesAtLeast whether there were more, which were not counted
 * @param changed runs that were changed
 * @param unchanged runs that were already in the target state
 * @param refused the number of runs that refused, by the code of the refusal
 * @param waitsFor the error code that delays it; null while it proceeds
 */
public record BulkJob(String id, String workspaceId, String action, String state, JsonNode filter, long matches,
        boolean matchesAtLeast, long changed, long unchanged, JsonNode refused, @Nullable String reason,
        @Nullable String from, int perSecond, @Nullable String waitsFor, String actorType, @Nullable String actorId,
        Instant createdAt, @Nullable Instant endedAt) {

    public BulkJob {
        filter = Json.orNull(filter);
        refused = Json.orNull(refused);
    }

    /** Whether the job has completed or was stopped. */
    public boolean ended() {
        return !state.equals("running");
    }
}
