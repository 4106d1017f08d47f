package io.keelson.core.policy;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Retry policy: number of attempts and delay.
 *
 * @param maxAttempts attempts in all, the first included
 * @param maxFailures failures in all; an attempt that was abandoned without a failure counts none
 * @param base delay before the first retry
 * @param max upper limit of the delay
 * @param factor by which the delay grows with every failure
 * @param jitter fraction of the delay by which it may be shorter or longer, 0 to 1
 * @param maxElapsed latest schedule of another attempt after the beginning of the first; null for no limit
 */
public record RetryPolicy(int maxAttempts, int maxFailures, Duration base, Duration max, double factor, double jitter,
        @Nullable Duration maxElapsed) {

    public RetryPolicy(int maxAttempts, int maxFailures, Duration base, Duration max, double factor, double jitter) {
        this(maxAttempts, maxFailures, base, max, factor, jitter, null);
    }

    private static final double CENTURY_MILLIS = 3.2e12;

    /** Step level: 3 attempts, 100 ms doubled up to 30 s, 10 % jitter. */
    public static final RetryPolicy STEP =
            new RetryPolicy(3, 3, Duration.ofMillis(100), Duration.ofSeconds(30), 2, 0.1);

    /** One attempt only. */
    public static final RetryPolicy NONE = new RetryPolicy(1, 1, Duration.ZERO, Duration.ZERO, 1, 0);

    /** Task level: 3 attempts, 10 s doubled up to 300 s. */
    public static final RetryPolicy TASK = new RetryPolicy(3, 3, Duration.ofSeconds(10), Duration.ofSeconds(300), 2, 0);
    /** The policy for restarts of agents and runs: 3 attempts, 100 ms doubled up to 30 s, 10 % jitter. */
    public static final RetryPolicy LEVEL = STEP;

    private static final RetryPolicy GATE4 = new RetryPolicy(3, 3, Duration.ofSeconds(1), Duration.ofSeconds(30), 2, 0);
    private static final RetryPolicy LIFECYCLE = new RetryPolicy(4, 4, Duration.ofSeconds(1), Duration.ofSeconds(4), 2,
            0);
    /** {@code 2^failures × 100 ms}: the first delay is twice the base of {@link #STEP}. */
    private static final RetryPolicy STEPS =
            new RetryPolicy(3, 3, Duration.ofMillis(200), Duration.ofSeconds(30), 2, 0);

    /** The policy of a seed document: {@code gate4}, {@code lifecycle} or {@code steps}; empty for others. */
    public static Optional<RetryPolicy> preset(String name) {
        return switch (name) {
            case "gate4" -> Optional.of(GATE4);
            case "lifecycle" -> Optional.of(LIFECYCLE);
            case "steps" -> Optional.of(STEPS);
            default -> Optional.empty();
        };
    }

    /**
     *
     * The delay before the next try.
     *
     * @param failures failures so far, from 1
     * @param seed of the jitter, so that the same decision yields the same delay
     */
    public Duration delay(int failures, long seed) {
        double capped = Math.min(raw(failures), max.toMillis());
        double spread = capped * jitter * (2 * unit(seed) - 1);
        return Duration.ofMillis(Math.max(0, Math.round(capped + spread)));
    }

    /** The minimum delay before the second try. */
    public Duration leastDelay() {
        return Duration.ofMillis(Math.round(Math.min(raw(1), max.toMillis()) * (1 - jitter)));
    }

    /** The delay by the factor alone, before {@link #max} and jitter; at most a century. */
    public Duration uncapped(int failures) {
        return Duration.ofMillis((long) Math.min(raw(failures), CENTURY_MILLIS));
    }

    private double raw(int failures) {
        return base.toMillis() * Math.pow(factor, Math.max(0, failures - 1));
    }

    /** A number in [0, 1) that depends only on the seed (SplitMix64's finaliser). */
    private static double unit(long seed) {
        long z = seed + 0x9E3779B97F4A7C15L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        z ^= z >>> 31;
        return (z >>> 11) * 0x1.0p-53;
    }
}
