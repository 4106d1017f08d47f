package io.keelson.server.annex.model.wire;

import java.time.Duration;
import java.util.Map;

/**
 * A request that is passed on as a program has sent it.
 *
 * @param kind of the answer
 * @param headers in addition to the endpoint's
 * @param stream whether its body requests a stream
 * @param maxOutput tokens
 */
public record PassedRequest(PassedKind kind, byte[] body, Map<String, String> headers, boolean stream, long maxOutput,
        Duration timeout) {

    public PassedRequest {
        headers = Map.copyOf(headers);
    }
}
