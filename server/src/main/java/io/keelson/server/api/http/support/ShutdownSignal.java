package io.keelson.server.api.http.support;

import java.time.Duration;

/**
 * Signals all waiting threads that the server stops. Thousands of threads wait at a time, so the cost of the end of one wait does not
 * grow with the number of others, as it does with a latch.
 */
public final class ShutdownSignal {
    private static final long MILLI = 1_000_000;

    private volatile boolean begun;

    public synchronized void begin() {
        begun = true;
        notifyAll();
    }

    public boolean hasBegun() {
        return begun;
    }

    /** Waits so long, or until the server stops; true when it does. */
    public synchronized boolean await(Duration time) throws InterruptedException {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); !begun && left > 0; left = end - System.nanoTime()) {
            wait(left / MILLI, (int) (left % MILLI));
        }
        return begun;
    }
}
