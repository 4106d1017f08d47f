package io.keelson.bench.contender;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Counts what ends until all has ended. */
final class Tally {
    private final int all;
    private final CountDownLatch open;

    Tally(int all) {
        this.all = all;
        this.open = new CountDownLatch(all);
    }

    void one() {
        open.countDown();
    }

    /** Waits for all, or so many seconds. */
    WorkloadResult since(long startNanos, double seconds) throws InterruptedException {
        open.await((long) (seconds * 1e9), TimeUnit.NANOSECONDS);
        return WorkloadResult.of(all - open.getCount(), System.nanoTime() - startNanos);
    }
}
