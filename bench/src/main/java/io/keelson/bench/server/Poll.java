package io.keelson.bench.server;

import java.time.Duration;

/** Waiting for what only shows when it is looked at. */
public final class Poll {
    private static final Duration PAUSE = Duration.ofMillis(5);

    /** Something that may have come to hold. */
    public interface Condition {
        boolean holds() throws InterruptedException;
    }

    private Poll() {}

    /** @throws IllegalStateException when it does not hold in time */
    public static void until(Duration limit, Condition condition) throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!condition.holds()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("waited in vain for " + limit);
            }
            Thread.sleep(PAUSE);
        }
    }
}
