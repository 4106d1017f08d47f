package io.keelson.server.auth;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** @param closedAt null while it is open */
public record WorkspaceRow(UUID id, String name, Instant createdAt, @Nullable Instant closedAt, Limits limits,
        Purge purge) {

    /**
     * How far its deletion has come.
     *
     * @param rows that were removed, without what went with them
     */
    public record Purge(boolean asked, boolean done, long rows) {}

    public boolean closed() {
        return closedAt != null;
    }
}
