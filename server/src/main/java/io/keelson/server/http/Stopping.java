package io.keelson.server.http;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Tells whoever waits that the server stops. */
final class Stopping {

    private final CountDownLatch begun = new CountDownLatch(1);

    void begin() {
        begun.countDown();
    }

    boolean hasBegun() {
        return begun.getCount() == 0;
    }

    /** Waits so long, or until the server stops; true when it does. */
    boolean await(Duration time) throws InterruptedException {
        return begun.await(time.toNanos(), TimeUnit.NANOSECONDS);
    }
}
