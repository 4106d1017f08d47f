package io.keelson.server.annex.model.gateway;

import io.keelson.server.api.http.gateway.GatewayError;
import io.keelson.server.base.json.DocumentMemory;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/** Bounds the requests of workspaces that are in flight at this server, and their memory. Thread-safe. */
final class WorkspaceRequests {
    static final int IN_FLIGHT = 2_560;
    private static final int TOO_MANY = 429;

    private final DocumentMemory memory;
    private final Map<UUID, Integer> counts = new HashMap<>();

    /** @param memory for bodies of requests, and for the parts of answers that clients have not read */
    WorkspaceRequests(DocumentMemory memory) {
        this.memory = memory;
    }

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

    /** A share of the memory, which does not wait for more. */
    DocumentMemory.Share share(UUID workspace) {
        return memory.share(workspace, Duration.ZERO);
    }

    /**
     * Takes memory of a share.
     *
     * @throws GatewayError {@code too_many_requests}
     */
    static void take(DocumentMemory.Share share, long bytes) throws GatewayError {
        try {
            share.take(bytes);
        } catch (DocumentMemory.FullException e) {
            throw new GatewayError(TOO_MANY, "too_many_requests",
                    "the requests of the workspace in flight at this server, and their answers, have too many bytes")
                    .header("retry-after", "1");
        }
    }
}
