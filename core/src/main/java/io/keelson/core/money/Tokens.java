package io.keelson.core.money;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Tokens that a model used, in parts with a price each. No token is in two parts, so their sum is all tokens.
 *
 * @param input that the model read and that its provider's cache neither had nor kept
 * @param cacheRead that the model read from its provider's cache
 * @param cacheWrite that the model read and its provider's cache kept
 * @param output that the model wrote, its reasoning included
 * @param reasoning the part of {@code output} that is reasoning; it has no price of its own
 */
public record Tokens(long input, long cacheRead, long cacheWrite, long output, long reasoning) {

    public static final Tokens NONE = new Tokens(0, 0, 0, 0, 0);

    public Tokens {
        if (Math.min(Math.min(input, cacheRead), Math.min(cacheWrite, reasoning)) < 0 || reasoning > output) {
            throw new IllegalArgumentException("no tokens: " + input + ", " + cacheRead + ", " + cacheWrite + ", "
                    + output + ", of which reasoning " + reasoning);
        }
    }

    /**
     * A sum whose parts are unknown: all tokens count as output, the part with the highest price of nearly every model.
     */
    public static Tokens undivided(long total) {
        return total == 0 ? NONE : new Tokens(0, 0, 0, total, 0);
    }

    /** Whether these are the tokens of {@link #undivided(long)}. Without the prefix "is": the JSON of tokens would have it as a member. */
    public boolean onlyOutput() {
        return output == total() && reasoning == 0;
    }

    /** All tokens. */
    public long total() {
        return input + cacheRead + cacheWrite + output;
    }

    public boolean none() {
        return total() == 0;
    }

    public Tokens plus(Tokens more) {
        return more.none() ? this
                : new Tokens(input + more.input, cacheRead + more.cacheRead, cacheWrite + more.cacheWrite,
                        output + more.output, reasoning + more.reasoning);
    }

    /** The tokens beyond others of the same work, in each part; none where a part has fewer. */
    public Tokens beyond(Tokens before) {
        long more = Math.max(0, output - before.output);
        return before.none() ? this
                : new Tokens(Math.max(0, input - before.input), Math.max(0, cacheRead - before.cacheRead),
                        Math.max(0, cacheWrite - before.cacheWrite), more,
                        Math.clamp(reasoning - before.reasoning, 0, more));
    }

    /** The parts by their names in documents. */
    public Map<String, Object> members() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("input", input);
        members.put("cache_read", cacheRead);
        members.put("cache_write", cacheWrite);
        members.put("output", output);
        members.put("reasoning", reasoning);
        return members;
    }
}
