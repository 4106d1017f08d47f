package io.keelson.api.money;

/**
 * Tokens of a model by their price. No token is in two of {@code input}, {@code cacheRead}, {@code cacheWrite} and
 * {@code output}, which sum up to all tokens.
 *
 * @param input that the provider's cache neither had nor kept
 * @param cacheRead input from the provider's cache
 * @param cacheWrite input that the provider's cache kept
 * @param output written by the model, reasoning included
 * @param reasoning the part of output that is reasoning
 */
public record TokenUsage(long input, long cacheRead, long cacheWrite, long output, long reasoning) {

    /** Without a cache and reasoning. */
    public TokenUsage(long input, long output) {
        this(input, 0, 0, output, 0);
    }

    /** All tokens. */
    public long total() {
        return input + cacheRead + cacheWrite + output;
    }
}
