package io.keelson.client;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Delays with full jitter: each is random, and its limit doubles from one failure to the next, so that many clients do
 * not come back in step.
 */
public final class Backoff {

    private static final Duration LONGEST_WISH = Duration.ofSeconds(60);

    private final Duration base;
    private final Duration max;
    private int failures;

    public Backoff(Duration base, Duration max) {
        this.base = base;
        this.max = max;
    }

    /**
     * The delay after one more failure.
     *
     * @param wish the server's {@code Retry-After}; honoured up to 60 s if longer than the computed delay
     */
    public Duration next(@Nullable Duration wish) {
        double raw = Math.min(base.toMillis() * Math.pow(2, failures++), max.toMillis());
        Duration own = Duration.ofMillis((long) (raw * ThreadLocalRandom.current().nextDouble()));
        if (wish == null || wish.compareTo(own) <= 0) {
            return own;
        }
        return wish.compareTo(LONGEST_WISH) < 0 ? wish : LONGEST_WISH;
    }

    /** Resets the delay after a success. */
    public void reset() {
        failures = 0;
    }

    /** How many failures in a row so far. */
    public int failures() {
        return failures;
    }
}
