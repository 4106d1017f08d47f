package io.keelson.server.annex.mcp;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A server of a workspace.
 *
 * @param revision rises with each change of its definition
 * @param spoken the revision of the protocol that it was last found to speak; null before the first connection
 * @param checkedAt of the last look at its tools; null if absent
 * @param error of that look; null when it succeeded
 */
record McpServerRow(UUID workspaceId, String name, McpDefinition definition, int revision,
        @Nullable String spoken, @Nullable Instant checkedAt, @Nullable String error, Instant createdAt,
        Instant updatedAt, String updatedBy) {}
