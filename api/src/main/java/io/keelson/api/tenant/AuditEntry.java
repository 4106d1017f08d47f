package io.keelson.api.tenant;

import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Types;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * An audit log entry.
 *
 * @param id number of the entry
 * @param createdAt time of the action
 * @param actorType kind of the actor
 * @param actorId id of the actor
 * @param keyId API key of the request; null without one
 * @param fromAddress address of the client; null without a request
 * @param action name of the action
 * @param workspaceId the one acted upon
 * @param subject the id of the object acted upon
 * @param detail details by the action
 */
public record AuditEntry(long id, Instant createdAt, @OneOf({"human", "service", "system"}) String actorType,
        String actorId, @Nullable @Id String keyId, @Nullable String fromAddress, String action,
        @Nullable @Id String workspaceId, @Nullable String subject, @Types("object") JsonNode detail) {}
