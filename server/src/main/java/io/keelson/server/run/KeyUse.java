package io.keelson.server.run;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A request under an {@code Idempotency-Key} (specification: money §2, layer 1).
 *
 * @param requestHash the same for requests that ask for the same
 * @param run the run that it made or changed; null while that is not known, or for none
 */
public record KeyUse(Id id, String requestHash, @Nullable UUID run) {

    /**
     * What no two requests may share within a day.
     *
     * @param endpoint method and path, the same for all aliases of a route
     */
    public record Id(UUID workspaceId, String endpoint, String key) {}

    public KeyUse of(UUID runId) {
        return new KeyUse(id, requestHash, runId);
    }
}
