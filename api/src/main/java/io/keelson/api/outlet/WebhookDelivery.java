package io.keelson.api.outlet;

import io.keelson.api.Shape.OneOf;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One event for one receiver.
 *
 * @param id the header {@code webhook-id}
 * @param eventId null for a ping
 * @param type topic or type of the event
 * @param state state of the delivery
 * @param attempts number of attempts
 * @param lastStatus HTTP status of the receiver's last answer
 * @param lastError error of the last attempt; null without one
 * @param createdAt time of its creation
 * @param attemptedAt attempted at
 * @param completedAt time of its end; null while it is open
 */
public record WebhookDelivery(String id, @Nullable Long eventId, String type,
        @OneOf({"pending", "delivered", "dead"}) String state, int attempts, @Nullable Integer lastStatus,
        @Nullable String lastError, Instant createdAt, @Nullable Instant attemptedAt, @Nullable Instant completedAt) {}
