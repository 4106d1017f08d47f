package io.keelson.api.worker;

import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Request;

/**
 * Tokens by their price. No token is in two of input, cache_read, cache_write and output.
 *
 * @param input input that the provider's cache neither had nor kept
 * @param cacheRead input from the provider's cache
 * @param cacheWrite input that the provider's cache kept
 * @param output output of the model, reasoning included
 * @param reasoning part of the output that is reasoning
 */
@Request
public record ReportedUsage(@Default("0") @Range(min = 0, max = 100_000_000) long input,
        @Default("0") @Range(min = 0, max = 100_000_000) long cacheRead,
        @Default("0") @Range(min = 0, max = 100_000_000) long cacheWrite,
        @Default("0") @Range(min = 0, max = 100_000_000) long output,
        @Default("0") @Range(min = 0, max = 100_000_000) long reasoning) {

    /** The tokens that are charged: all but reasoning, which is a part of the output. */
    public long total() {
        return input + cacheRead + cacheWrite + output;
    }
}
