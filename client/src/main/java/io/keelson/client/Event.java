package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * An event of a run.
 *
 * @param seq from 1, without gaps within its run
 * @param payload {@code from}, {@code to}, {@code reason} and what else the event type carries
 */
public record Event(long id, long seq, String runId, @Nullable String taskId, @Nullable String stepId,
        String eventType, JsonNode payload, @Nullable String actorType, @Nullable String actorId,
        @Nullable Instant createdAt) {

    public Event {
        payload = Json.orNull(payload);
    }
}
