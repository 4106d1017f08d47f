package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A command to an external system.
 *
 * @param type such as {@code order.place}
 * @param state {@code executing}, {@code awaiting_tool}, {@code completed}, {@code failed} or {@code unknown}
 * @param idempotencyKey null if absent
 * @param payload the request
 * @param targetId the deployment or order that it changes; null for a command that creates something
 * @param providerKey the key sent to the provider, the same in each attempt
 * @param providerReference the provider's id of the created object; null until then
 * @param response the provider's response; null unless it completed
 * @param advice action for people; null if absent
 * @param runId null unless a step sent the command
 */
public record ExternalCommand(String id, String type, String state, @Nullable String idempotencyKey, JsonNode payload,
        @Nullable String targetId, String adapter, String providerKey, @Nullable String providerReference,
        int attempts, @Nullable JsonNode response, @Nullable String errorCode, @Nullable String errorMessage,
        @Nullable String advice, String actor, @Nullable String runId, @Nullable String stepId, Instant createdAt,
        Instant updatedAt, @Nullable Instant completedAt) {}
