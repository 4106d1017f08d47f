package io.keelson.server.engine.store;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A request under an {@code Idempotency-Key}.
 *
 * @param requestHash the same for equal requests
 * @param run the run that it created or changed; null if absent or still unknown
 */
public record KeyUse(Id id, String requestHash, @Nullable UUID run) {

    /**
     * The part that no two requests may share within a day.
     *
     * @param endpoint method and path, the same for all aliases of a route
     */
    public record Id(UUID workspaceId, String endpoint, String key) {}

    public KeyUse of(UUID runId) {
        return new KeyUse(id, requestHash, runId);
    }
}
