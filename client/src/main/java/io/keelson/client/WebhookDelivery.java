package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One event for one receiver.
 *
 * @param id what the receiver has in the header {@code webhook-id}
 * @param eventId null for a ping
 * @param state {@code pending}, {@code delivered} or {@code dead}
 * @param lastStatus what the receiver last answered; null where it has not
 */
public record WebhookDelivery(String id, @Nullable Long eventId, String type, String state, int attempts,
        @Nullable Integer lastStatus, @Nullable String lastError, Instant createdAt, @Nullable Instant attemptedAt,
        @Nullable Instant completedAt) {}
