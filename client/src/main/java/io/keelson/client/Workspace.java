package io.keelson.client;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A workspace.
 *
 * @param state {@code open}, {@code closed}, {@code deleting} or {@code deleted}
 * @param purgedRows removed rows of a workspace that is being deleted
 * @param allowedFolders that its tools may use on the server; null for the folders of the server's settings
 * @param allowedModels names of models that its plans and agents may use; null for all
 * @param allowedTools names and groups ({@code files.*}) of tools that its plans and agents may use; null for all
 * @param deniedTools names and groups of tools that are refused though they are allowed
 * @param defaultAutonomy {@code approve}, {@code autonomous} or {@code full_auto}, for missions that name no level;
 *            null for the product's
 * @param use null in lists
 */
public record Workspace(String id, String name, String state, @Nullable Instant createdAt, @Nullable Instant closedAt,
        long purgedRows, WorkspaceLimits limits, @Nullable List<String> allowedFolders,
        @Nullable List<String> allowedModels, @Nullable List<String> allowedTools, List<String> deniedTools,
        @Nullable String defaultAutonomy, @Nullable WorkspaceUse use) {

    public Workspace {
        allowedFolders = allowedFolders == null ? null : List.copyOf(allowedFolders);
        allowedModels = allowedModels == null ? null : List.copyOf(allowedModels);
        allowedTools = allowedTools == null ? null : List.copyOf(allowedTools);
        deniedTools = List.copyOf(deniedTools);
    }
}
