package io.keelson.server.annex.effect;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Settings of commands to external systems.
 *
 * @param url of the provider, without a trailing slash; null for deployments and orders on paper
 * @param token that the provider is shown; null if absent
 * @param idempotent whether the provider executes requests with the same key once
 * @param timeout of one call
 * @param types that users have registered
 */
public record EffectSettings(@Nullable String url, @Nullable String token, boolean idempotent, Duration timeout,
        List<Endpoint> types) {

    /**
     * The destination of a command type.
     *
     * @param idempotent whether it applies a repeated {@code Idempotency-Key} only once
     */
    public record Endpoint(String type, String url, boolean idempotent) {}

    /** Not the name of a built-in tool: those have one point at most and areas of their own. */
    private static final Pattern TYPE =
            Pattern.compile("([a-z][a-z0-9_]{0,49}\\.[a-z][a-z0-9_]{0,49})=(https?://[^\\s#@]+)(\\s+idempotent)?");
    /** The lease of a command is that much longer than its call may take. */
    private static final Duration MARGIN = Duration.ofSeconds(10);

    /**
     * Reads a registered type, as in {@code crm.note=https://crm.example/notes idempotent}.
     *
     * @return empty for another text, and for a built-in type
     */
    public static Optional<Endpoint> type(String text) {
        Matcher type = TYPE.matcher(text);
        return type.matches() && !CommandTypes.BUILT_IN.contains(type.group(1))
                ? Optional.of(new Endpoint(type.group(1), type.group(2), type.group(3) != null))
                : Optional.empty();
    }

    Duration lease() {
        return timeout.plus(MARGIN);
    }
}
