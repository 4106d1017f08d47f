package io.keelson.client.worker;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The expected durations of steps: a step takes as long as the last execution of its tool. Thread-safe. */
final class Durations {
    private final Map<String, Long> lastNanos = new ConcurrentHashMap<>();
    private final AtomicInteger quick = new AtomicInteger();
    private final long quickNanos;

    /** @param quick within this time, an assignment of quick steps ends */
    Durations(Duration quick) {
        this.quickNanos = quick.toNanos();
    }

    void record(String tool, long nanos) {
        lastNanos.put(tool, nanos);
    }

    /** Whether a step of the tool is expected to take less; false before its first execution. */
    boolean isBelow(String tool, long nanos) {
        return lastNanos.getOrDefault(tool, nanos) < nanos;
    }

    /** Begins an assignment. Returns whether it is expected to end soon; then {@link #endQuick} must follow. */
    boolean beginQuick(Execution first) {
        boolean ends = isBelow(first.tool(), quickNanos / (1 + first.following().size()));
        if (ends) {
            quick.incrementAndGet();
        }
        return ends;
    }

    void endQuick() {
        quick.decrementAndGet();
    }

    /** Whether assignments at work are expected to end soon. */
    boolean awaitsQuick() {
        return quick.get() > 0;
    }
}
