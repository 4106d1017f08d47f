package io.keelson.core.policy;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * A rate as a token bucket of half a second. Its state is the time until which the admitted work lasts at equal intervals
 * (theoretical arrival time of the generic cell rate algorithm), so servers share it as one column. Within any period,
 * the rate, the work of half a second and one are admitted at most.
 *
 * @param limit maximum number within the period; 0 admits nothing
 */
public record Rate(long limit, long periodSeconds) {

    /** How far {@code until} may be ahead of the time when one more is admitted. */
    private static final long TOLERANCE_MICROS = 500_000;
    private static final long MICROS_PER_SECOND = 1_000_000;

    public Rate {
        if (limit < 0 || periodSeconds < 1) {
            throw new IllegalArgumentException("no rate: " + limit + " in " + periodSeconds + " s");
        }
    }

    /** So many within a minute. */
    public static Rate perMinute(long limit) {
        return new Rate(limit, 60);
    }

    private long intervalMicros() {
        return Math.max(1, Math.ceilDiv(periodSeconds * MICROS_PER_SECOND, limit));
    }

    /**
     * The number that is admitted at this time.
     *
     * @param until null if nothing was admitted yet
     */
    public long available(@Nullable Instant until, Instant now) {
        if (limit == 0) {
            return 0;
        }
        long slack = TOLERANCE_MICROS - ahead(until, now);
        return slack < 0 ? 0 : slack / intervalMicros() + 1;
    }

    /**
     * The end of the admitted work after the admission.
     *
     * @param until null if nothing was admitted yet
     * @param admitted not more than {@link #available}; more are admitted as one, of that size
     */
    public Instant after(@Nullable Instant until, Instant now, long admitted) {
        return now.plus(ahead(until, now) + micros(admitted), ChronoUnit.MICROS);
    }

    /** The time that an amount of work lasts. */
    public long micros(long admitted) {
        return Math.ceilDiv(Math.multiplyExact(admitted, periodSeconds * MICROS_PER_SECOND), limit);
    }

    /**
     * The time at which the next one is admitted; null if that never happens.
     *
     * @param until null if nothing was admitted yet
     */
    public @Nullable Instant next(@Nullable Instant until, Instant now) {
        return limit == 0 ? null
                : now.plus(Math.max(0, ahead(until, now) - TOLERANCE_MICROS), ChronoUnit.MICROS);
    }

    private static long ahead(@Nullable Instant until, Instant now) {
        return until == null ? 0 : Math.max(0, ChronoUnit.MICROS.between(now, until));
    }
}
