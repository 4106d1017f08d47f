package io.keelson.server.annex.model.wire;

import io.keelson.core.money.Tokens;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A whole answer to a request that was passed on as it came.
 *
 * @param document as the provider sends it without a stream
 * @param usage null where the provider does not report it
 * @param firstMillis from sending to the first event or byte
 */
public record PassedAnswer(JsonNode document, @Nullable Tokens usage, long firstMillis, long totalMillis,
        Map<String, String> headers) {

    public PassedAnswer {
        headers = Map.copyOf(headers);
    }
}
