package io.keelson.server.engine;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * The database's clock between two looks at it: what it said last and what has passed since by a clock that never jumps.
 * Too old a word counts as none, so a process that stood still asks again. Not thread-safe.
 */
final class DatabaseTime {
    private static final long FRESH_NANOS = Duration.ofSeconds(1).toNanos();

    private @Nullable Instant said;
    private long at;

    void set(Instant now) {
        said = now;
        at = System.nanoTime();
    }

    /** The time, in microseconds; null when the database must be asked. */
    @Nullable Instant now() {
        long passed = System.nanoTime() - at;
        return said == null || passed > FRESH_NANOS ? null : said.plusNanos(passed).truncatedTo(ChronoUnit.MICROS);
    }
}
