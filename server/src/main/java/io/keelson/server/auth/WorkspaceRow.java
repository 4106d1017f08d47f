package io.keelson.server.auth;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** @param closedAt null while it is open */
public record WorkspaceRow(UUID id, String name, Instant createdAt, @Nullable Instant closedAt, Limits limits) {

    public boolean closed() {
        return closedAt != null;
    }
}
