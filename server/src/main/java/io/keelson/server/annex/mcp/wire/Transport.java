package io.keelson.server.annex.mcp.wire;

import java.time.Duration;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Carries messages to one server and back. Thread-safe. */
interface Transport extends AutoCloseable {

    /** Longest message in bytes, in either direction. */
    int MAX_MESSAGE = 8 << 20;

    /**
     * Sends a request and waits for its result. An interrupt or the timeout cancels the request.
     *
     * @param headers besides those of the transport; for HTTP only
     * @throws McpException for an error in place of a result, too
     */
    JsonNode request(String method, ObjectNode params, Map<String, String> headers, Duration timeout)
            throws McpException, InterruptedException;

    /** Sends a notification. */
    void notify(String method, ObjectNode params, Map<String, String> headers, Duration timeout)
            throws McpException, InterruptedException;

    /** False when it carries nothing any more. */
    boolean usable();

    /** True when the server has said, since the last call, that its tools have changed. */
    boolean toolsChanged();

    @Override
    void close();
}
