package io.keelson.server.engine;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The database's clock between two looks at it: what it said last and what has passed since by a clock that never jumps.
 * Too old a word counts as none, so a process that stood still asks again. Not thread-safe.
 */
final class DatabaseTime {
    private static final long FRESH_NANOS = Duration.ofSeconds(1).toNanos();

    private final LongSupplier nanos;
    private @Nullable Instant said;
    private long at;

    /** @param nanos a clock that never jumps, as {@link System#nanoTime} is one */
    DatabaseTime(LongSupplier nanos) {
        this.nanos = nanos;
    }

    void set(Instant now) {
        said = now;
        at = nanos.getAsLong();
    }

    /** The time, in microseconds; null when the database must be asked. */
    @Nullable Instant now() {
        long passed = nanos.getAsLong() - at;
        return said == null || passed > FRESH_NANOS ? null : said.plusNanos(passed).truncatedTo(ChronoUnit.MICROS);
    }
}
