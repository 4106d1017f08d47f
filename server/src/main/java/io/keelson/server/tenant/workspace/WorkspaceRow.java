package io.keelson.server.tenant.workspace;

import io.keelson.core.plan.Autonomy;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A workspace.
 *
 * @param closedAt null while it is open
 * @param folders that its tools may use, absolute; null for the folders of the server's settings
 * @param models names of models that its plans and agents may use; null for all models
 * @param tools that its plans and agents may use
 * @param autonomy level of missions without a level; null for the product's
 */
public record WorkspaceRow(UUID id, String name, Instant createdAt, @Nullable Instant closedAt, Limits limits,
        @Nullable List<String> folders, @Nullable List<String> models, WorkspaceStore.Tools tools,
        @Nullable Autonomy autonomy, Purge purge) {

    public WorkspaceRow {
        folders = folders == null ? null : List.copyOf(folders);
        models = models == null ? null : List.copyOf(models);
    }

    /**
     * How far its deletion has come.
     *
     * @param rows that were removed, without what went with them
     */
    public record Purge(boolean requested, boolean done, long rows) {}

    public boolean closed() {
        return closedAt != null;
    }
}
