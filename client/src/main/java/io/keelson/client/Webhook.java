package io.keelson.client;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A receiver of a workspace's events.
 *
 * @param events names of topics, types of events, or {@code *}
 * @param channel only runs that name it in {@code config.notifications.channel}; null for all runs
 * @param disabledReason {@code asked}, {@code gone} (it answered 410) or {@code failing} (it took nothing for too
 *            long); null while it is enabled
 * @param failingSince time of the first failed attempt since the last success; null if absent
 * @param lastError error of the last attempt; null if it succeeded
 * @param pending number of waiting deliveries
 * @param replaying whether earlier events are still being queued
 * @param previousSecretUntil until when deliveries bear two signatures; null where they bear one
 * @param secret what deliveries are signed with; null but where it has just been made
 */
public record Webhook(String id, String workspaceId, String url, @Nullable String description, List<String> events,
        @Nullable String channel, boolean enabled, @Nullable String disabledReason,
        @Nullable Instant failingSince, @Nullable String lastError, long pending, boolean replaying,
        @Nullable Instant previousSecretUntil, Instant createdAt, Instant updatedAt, @Nullable String secret) {

    /** Without the secret. */
    @Override
    public String toString() {
        return "Webhook " + id + " to " + url;
    }
}
