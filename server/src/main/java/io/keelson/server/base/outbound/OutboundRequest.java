package io.keelson.server.base.outbound;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One HTTP request.
 *
 * @param url http or https, without user and password
 * @param headers by name; framing headers are refused
 * @param body null if absent, as with GET and HEAD
 * @param timeout for the whole request: name lookup, connecting, sending and reading
 * @param maxBytes of the response's body after decompression
 */
public record OutboundRequest(String method, String url, Map<String, String> headers, byte @Nullable [] body,
        Duration timeout, int maxBytes) {

    public OutboundRequest {
        headers = Map.copyOf(headers);
    }
}
