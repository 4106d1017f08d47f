package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * An audit log entry.
 *
 * @param actorType {@code human}, {@code service} or {@code system}
 * @param workspaceId the changed workspace
 * @param subject the id of the changed object
 */
public record AuditEntry(long id, @Nullable Instant createdAt, String actorType, String actorId, @Nullable String keyId,
        @Nullable String fromAddress, String action, @Nullable String workspaceId, @Nullable String subject,
        JsonNode detail) {}
