package io.keelson.server.api.http.streams;

import java.time.Duration;

/**
 * The pace at which streams begin: some at once, the others one after another. Thousands of clients may come together, for example when a
 * server starts, and other requests need the processor meanwhile. Thread-safe.
 */
final class StreamPace {
    /** Streams that begin at once. */
    static final int AT_ONCE = 100;
    private static final int A_SECOND = 300;
    private static final long EACH = Duration.ofSeconds(1).toNanos() / A_SECOND;

    /** The time at which all streams so far have begun at the pace. */
    private long due;
    private boolean begun;

    /** The time until the next stream may begin, which takes its place. */
    synchronized Duration next(long nanos) {
        due = begun && due - nanos > 0 ? due + EACH : nanos + EACH;
        begun = true;
        return Duration.ofNanos(Math.max(0, due - nanos - AT_ONCE * EACH));
    }
}
