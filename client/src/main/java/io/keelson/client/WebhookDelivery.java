package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One event for one receiver.
 *
 * @param id the value of the header {@code webhook-id}
 * @param eventId null for a ping
 * @param state {@code pending}, {@code delivered} or {@code dead}
 * @param lastStatus status of the last response; null if absent
 */
public record WebhookDelivery(String id, @Nullable Long eventId, String type, String state, int attempts,
        @Nullable Integer lastStatus, @Nullable String lastError, Instant createdAt, @Nullable Instant attemptedAt,
        @Nullable Instant completedAt) {}
