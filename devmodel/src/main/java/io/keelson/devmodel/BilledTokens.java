package io.keelson.devmodel;

import java.nio.charset.StandardCharsets;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Tokens of one answer. No token is in two of the first four parts, so an answer costs the sum of each part times its price.
 *
 * @param input neither read from a cache nor written to one
 * @param output includes {@code reasoning}
 */
record BilledTokens(long input, long cacheRead, long cacheWrite, long output, long reasoning) {

    static final BilledTokens NONE = new BilledTokens(0, 0, 0, 0, 0);
    private static final int BYTES_PER_TOKEN = 4;

    /**
     * The tokens of the script; the input that it leaves out is a token for each 4 bytes of the request's body, the
     * output a token for each 4 bytes of UTF-8 of the answer and the reasoning tokens, both rounded up.
     *
     * @param answered texts, names of tools and their arguments
     */
    static BilledTokens of(JsonNode stated, int bodyBytes, String answered) {
        long reasoning = stated.path("reasoning").asLong(0);
        return new BilledTokens(stated.path("input").asLong(tokens(bodyBytes)), stated.path("cache_read").asLong(0),
                stated.path("cache_write").asLong(0),
                stated.path("output").asLong(tokens(answered.getBytes(StandardCharsets.UTF_8).length) + reasoning),
                reasoning);
    }

    private static long tokens(long bytes) {
        return (bytes + BYTES_PER_TOKEN - 1) / BYTES_PER_TOKEN;
    }

    /** The tokens for a wire that does not report writes to a cache. */
    BilledTokens withoutCacheWrite() {
        return new BilledTokens(input + cacheWrite, cacheRead, 0, output, reasoning);
    }

    /** All tokens that were read, as OpenAI counts them. */
    long allInput() {
        return input + cacheRead + cacheWrite;
    }

    ObjectNode toJson() {
        return Json.object().put("input", input).put("cache_read", cacheRead).put("cache_write", cacheWrite)
                .put("output", output).put("reasoning", reasoning);
    }
}
