package io.keelson.server.webhook;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One event for one endpoint.
 *
 * @param eventId null for a ping
 * @param state {@code pending}, {@code delivered} or {@code dead}
 * @param lastStatus what the receiver last answered; null where it has not
 */
public record Delivery(UUID id, @Nullable Long eventId, String type, String state, int attempts,
        @Nullable Integer lastStatus, @Nullable String lastError, Instant createdAt, @Nullable Instant attemptedAt,
        @Nullable Instant completedAt) {

    /** The same whenever the event is delivered to the endpoint, be it after years. */
    static UUID idOf(UUID endpoint, long event) {
        return UUID.nameUUIDFromBytes((endpoint + "/" + event).getBytes(StandardCharsets.UTF_8));
    }

    /** As receivers know it: the header {@code webhook-id}. */
    public static String wire(UUID id) {
        return "msg_" + id;
    }
}
