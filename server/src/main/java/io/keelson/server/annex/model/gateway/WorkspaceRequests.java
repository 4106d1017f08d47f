package io.keelson.server.annex.model.gateway;

import io.keelson.server.api.http.gateway.GatewayError;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/** Counts the requests of workspaces that are in flight at this server. Thread-safe. */
final class WorkspaceRequests {
    static final int IN_FLIGHT = 2_560;
    private static final int TOO_MANY = 429;

    private final Map<UUID, Integer> counts = new HashMap<>();

    /** @throws GatewayError {@code too_many_requests} */
    synchronized void begin(UUID workspace) throws GatewayError {
        int count = counts.getOrDefault(workspace, 0);
        if (count == IN_FLIGHT) {
            throw new GatewayError(TOO_MANY, "too_many_requests",
                    "the workspace has " + IN_FLIGHT + " requests in flight at this server").header("retry-after", "1");
        }
        counts.put(workspace, count + 1);
    }

    synchronized void end(UUID workspace) {
        counts.computeIfPresent(workspace, (_, count) -> count == 1 ? null : count - 1);
    }
}
