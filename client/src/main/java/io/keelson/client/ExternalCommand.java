package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A command to an external system.
 *
 * @param type such as {@code order.place}
 * @param state {@code executing}, {@code awaiting_tool}, {@code completed}, {@code failed} or {@code unknown}
 * @param idempotencyKey null where none was given
 * @param payload what was asked for
 * @param targetId the deployment or order that it acts upon; null for one that makes something
 * @param providerKey the key under which the provider was asked, at each attempt
 * @param providerReference what the provider calls what was made; null until it is done
 * @param response the provider's; null unless it completed
 * @param advice what people are to do about it; null where nothing is
 * @param runId null unless a step asked
 */
public record ExternalCommand(String id, String type, String state, @Nullable String idempotencyKey, JsonNode payload,
        @Nullable String targetId, String adapter, String providerKey, @Nullable String providerReference,
        int attempts, @Nullable JsonNode response, @Nullable String errorCode, @Nullable String errorMessage,
        @Nullable String advice, String actor, @Nullable String runId, @Nullable String stepId, Instant createdAt,
        Instant updatedAt, @Nullable Instant completedAt) {}
