package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A workspace.
 *
 * @param state {@code open} or {@code closed}
 * @param use null in lists
 */
public record Workspace(String id, String name, String state, @Nullable Instant createdAt, @Nullable Instant closedAt,
        WorkspaceLimits limits, @Nullable WorkspaceUse use) {}
