package io.keelson.server.engine.commit;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The database's clock between two looks at it: what it said last and what has passed since by a clock that never jumps.
 * Too old a word counts as none, so a process that stood still asks again. All commits of a node go by the same one, and it
 * does not go back when the database's word arrives late: what is asked for after another answer is not dated before it. For
 * any number of threads.
 */
public final class DatabaseTime {
    private static final Duration MAX_AGE = Duration.ofSeconds(1);

    private final LongSupplier nanos;
    private @Nullable Instant said;
    private long at;
    private Instant latest = Instant.MIN;

    /** @param nanos a clock that never jumps, as {@link System#nanoTime} is one */
    public DatabaseTime(LongSupplier nanos) {
        this.nanos = nanos;
    }

    public synchronized void set(Instant now) {
        said = now;
        at = nanos.getAsLong();
        latest = noEarlier(now);
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

    /** The given time, or the latest there was; unless that is so far ahead that the database's clock was set back. */
    private Instant noEarlier(Instant now) {
        return now.isAfter(latest) || now.plus(MAX_AGE).isBefore(latest) ? now : latest;
    }
}
