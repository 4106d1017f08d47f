package io.keelson.server.annex.trigger;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The pace of decisions while events arrive in a burst: decisions rest for three times as long as they take, so that the events are
 * stored first. After some seconds of one burst they rest no more: a flow of events that lasts is decided as fast as it can be.
 * Thread-safe.
 */
final class DecisionPace {

    private static final int REST = 3;
    /** Maximum time of one rest. */
    private static final long MAX_REST = Duration.ofMillis(500).toNanos();
    /** Time after the last events that came together, at which their burst is over. */
    private static final long QUIET = Duration.ofMillis(100).toNanos();
    /** Maximum time for which one burst slows decisions down. */
    private static final long MAX_BURST = Duration.ofSeconds(10).toNanos();

    private long begun;
    private long last = System.nanoTime() - QUIET;

    /** Several requests were stored together. */
    synchronized void burst() {
        long now = System.nanoTime();
        if (now - last >= QUIET) {
            begun = now;
        }
        last = now;
    }

    /**
     * Rests after decisions.
     *
     * @param took nanoseconds of the decisions
     */
    synchronized void rest(long took) throws InterruptedException {
        long until = System.nanoTime() + Math.min(REST * took, MAX_REST);
        for (long now = System.nanoTime(); now < until && now - last < QUIET
                && now - begun < MAX_BURST; now = System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, Math.min(until - now, QUIET - (now - last)));
        }
    }
}
