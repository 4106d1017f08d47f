package io.keelson.server.outlet.webhook;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One event for one endpoint.
 *
 * @param eventId null for a ping
 * @param state {@code pending}, {@code delivered} or {@code dead}
 * @param lastStatus the receiver's last answer; null if absent
 */
public record Delivery(UUID id, @Nullable Long eventId, String type, String state, int attempts,
        @Nullable Integer lastStatus, @Nullable String lastError, Instant createdAt, @Nullable Instant attemptedAt,
        @Nullable Instant completedAt) {

    /** Deterministic: the same for each delivery of the event to the endpoint. */
    static UUID idOf(UUID endpoint, long event) {
        return UUID.nameUUIDFromBytes((endpoint + "/" + event).getBytes(StandardCharsets.UTF_8));
    }

    /** The id in the header {@code webhook-id}. */
    public static String wire(UUID id) {
        return "msg_" + id;
    }
}
