package io.keelson.client;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A workspace.
 *
 * @param state {@code open}, {@code closed}, {@code deleting} or {@code deleted}
 * @param purgedRows of one that is being deleted, what has been removed so far
 * @param allowedFolders that its tools may use on the server; null for those of the server's settings
 * @param use null in lists
 */
public record Workspace(String id, String name, String state, @Nullable Instant createdAt, @Nullable Instant closedAt,
        long purgedRows, WorkspaceLimits limits, @Nullable List<String> allowedFolders, @Nullable WorkspaceUse use) {

    public Workspace {
        allowedFolders = allowedFolders == null ? null : List.copyOf(allowedFolders);
    }
}
