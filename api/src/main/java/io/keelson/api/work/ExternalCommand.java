package io.keelson.api.work;

import io.keelson.api.Shape.MaxCharacters;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Text;
import io.keelson.api.Shape.Types;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A command to an external system.
 *
 * @param id id of the command, with the prefix {@code cmd_}
 * @param workspaceId id of its workspace
 * @param type type, such as {@code order.place}
 * @param state state of the command
 * @param idempotencyKey key of the request; null for a step
 * @param requestHash SHA-256 of the normalized request
 * @param payload request as it was accepted
 * @param targetId the deployment or order that it acts upon
 * @param adapter adapter that executed it, such as {@code simulated}
 * @param idempotent whether the provider recognizes repetitions by the key
 * @param providerKey the Idempotency-Key of the request to the provider
 * @param providerReference id at the provider; null before its response
 * @param attempts number of calls of the provider
 * @param nextLookAt time of the next attempt, or end of the lease
 * @param response response of the provider; null before it
 * @param errorCode code of the error; null without one
 * @param errorMessage message of the error; null without one
 * @param advice advice for operators about an unknown outcome
 * @param actor name of the caller
 * @param actorKind kind of the caller
 * @param runId run of the step that sent it; null for a request
 * @param stepId step that sent it; null for a request
 * @param createdAt time of its creation
 * @param updatedAt time of its last change
 * @param completedAt time of its end; null before it
 */
public record ExternalCommand(String id, String workspaceId, String type,
        @OneOf({
                "executing", "awaiting_tool", "completed", "failed", "unknown"}) String state,
        @Nullable String idempotencyKey, String requestHash, @Types("object") JsonNode payload,
        @Nullable String targetId, String adapter, boolean idempotent, String providerKey,
        @Nullable String providerReference, int attempts, @Nullable Instant nextLookAt,
        @Types({"object", "null"}) JsonNode response, @Nullable String errorCode, @Nullable String errorMessage,
        @Nullable String advice, String actor, String actorKind, @Nullable String runId, @Nullable String stepId,
        Instant createdAt, Instant updatedAt, @Nullable Instant completedAt) {

    /**
     * Creates a command of a type from the server's settings.
     *
     * @param type type of the command
     * @param payload input of the command; at most 65,536 characters as JSON
     */
    @Request
    public record New(@Text(pattern = "\\S", max = 100) String type, @MaxCharacters(65_536) ObjectNode payload) {}
}
