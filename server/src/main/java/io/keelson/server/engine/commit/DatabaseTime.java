package io.keelson.server.engine.commit;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Estimates the database's clock between two readings, from the last reading and a monotonic clock. Expires after a
 * while, so that a suspended process asks again. All commits of a node use the same estimate, which never goes back
 * when a reading arrives late. Thread-safe.
 */
public final class DatabaseTime {
    private static final Duration MAX_AGE = Duration.ofSeconds(1);

    private final LongSupplier nanos;
    private @Nullable Instant said;
    private long at;
    private Instant latest = Instant.MIN;

    /** @param nanos a monotonic clock, such as {@link System#nanoTime} */
    public DatabaseTime(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /** Takes a reading of the database's clock; returns the time. */
    public synchronized Instant set(Instant now) {
        said = now;
        at = nanos.getAsLong();
        latest = noEarlier(now);
        return latest;
    }

    /** Discards the last reading, as after a move of the clock. */
    synchronized void forget() {
        said = null;
    }

    /** The time, in microseconds; null when the database must be asked. */
    synchronized @Nullable Instant now() {
        long passed = nanos.getAsLong() - at;
        if (said == null || passed > MAX_AGE.toNanos()) {
            return null;
        }
        latest = noEarlier(said.plusNanos(passed).truncatedTo(ChronoUnit.MICROS));
        return latest;
    }

    /** The given time, or the latest one so far; unless that is so far ahead that the database's clock was set back. */
    private Instant noEarlier(Instant now) {
        return now.isAfter(latest) || now.plus(MAX_AGE).isBefore(latest) ? now : latest;
    }
}
