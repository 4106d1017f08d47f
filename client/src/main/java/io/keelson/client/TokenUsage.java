package io.keelson.client;

/**
 * Tokens of a model by their price. No token is in two of {@code input}, {@code cacheRead}, {@code cacheWrite} and
 * {@code output}, which sum up to all tokens.
 *
 * @param input that the model read and that its provider's cache neither had nor kept. A provider whose count includes cached
 *     tokens, such as OpenAI, needs them subtracted
 * @param cacheRead that the model read from its provider's cache
 * @param cacheWrite that the model read and its provider's cache kept
 * @param output that the model wrote, its reasoning included
 * @param reasoning the part of {@code output} that is reasoning
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
