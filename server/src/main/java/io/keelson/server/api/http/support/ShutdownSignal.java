package io.keelson.server.api.http.support;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Signals all waiting threads that the server stops. */
public final class ShutdownSignal {

    private final CountDownLatch begun = new CountDownLatch(1);

    public void begin() {
        begun.countDown();
    }

    public boolean hasBegun() {
        return begun.getCount() == 0;
    }

    /** Waits so long, or until the server stops; true when it does. */
    public boolean await(Duration time) throws InterruptedException {
        return begun.await(time.toNanos(), TimeUnit.NANOSECONDS);
    }
}
