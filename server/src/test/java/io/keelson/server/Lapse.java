package io.keelson.server;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Lets time pass, as the length of a fault. */
public final class Lapse {

    private Lapse() {}

    /** Returns when that time has passed, or at an interrupt. */
    public static void of(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0 && !Thread.currentThread().isInterrupted(); left =
                end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
