package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A proposal of a step to people. Nothing waits for the answer.
 *
 * @param attempt the run's attempt that proposed it
 * @param data structured details for programs; null if absent
 * @param state {@code pending}, {@code accepted}, {@code rejected}, {@code expired} or {@code withdrawn}
 * @param expiresAt when it expires unless it is decided; null for never
 * @param reason given with the decision; null if absent
 */
public record Proposal(String id, String runId, String runName, int attempt, String taskId,
        @Nullable String taskKey, String stepId, @Nullable String stepName, String title, @Nullable String body,
        @Nullable JsonNode data, String state, Instant createdAt, @Nullable Instant expiresAt,
        @Nullable Instant decidedAt, @Nullable String decidedBy, @Nullable String reason) {

    /** Whether it waits for an answer. */
    public boolean pending() {
        return state.equals("pending");
    }
}
