package io.keelson.server.api.http.streams;

import io.keelson.server.api.http.support.ShutdownSignal;
import io.keelson.server.base.background.BackgroundTask;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Polls the id up to which events are settled, for all workspace streams: one query a few times a second, and
 * none without streams. Thread-safe.
 */
public final class FeedPoller {

    private static final Duration POLL_INTERVAL = Duration.ofMillis(100);

    private final LongSupplier lookup;
    private final ShutdownSignal shutdown;
    private final BackgroundTask task = BackgroundTask.paced("event-feed", POLL_INTERVAL, this::look);
    private int watchers;
    private boolean looking;
    private long settled = -1;
    private long forgotten;

    /** @param lookup looks, on one thread at a time; -1 as long as nothing is known */
    public FeedPoller(LongSupplier lookup, ShutdownSignal shutdown) {
        this.lookup = lookup;
        this.shutdown = shutdown;
    }

    BackgroundTask task() {
        return task;
    }

    /** One follower, until it is closed. */
    public final class Watch implements AutoCloseable {

        /** Waits until that id is settled, or the time is over or the server stops. The highest that is known then. */
        public long await(long id, Duration timeout) throws InterruptedException {
            long end = System.nanoTime() + timeout.toNanos();
            synchronized (FeedPoller.this) {
                for (long left = timeout.toMillis(); settled < id && left > 0 && !shutdown.hasBegun();) {
                    FeedPoller.this.wait(left);
                    left = (end - System.nanoTime()) / 1_000_000;
                }
                return settled;
            }
        }

        @Override
        public void close() {
            synchronized (FeedPoller.this) {
                watchers--;
            }
        }
    }

    public synchronized Watch watch() {
        watchers++;
        if (!looking) {
            looking = true;
            task.nudge();
        }
        return new Watch();
    }

    /** Forgets the id: the database went back. */
    synchronized void forget() {
        forgotten++;
        settled = -1;
    }

    private synchronized long forgotten() {
        return forgotten;
    }

    private Duration look() {
        if (!watched()) {
            return BackgroundTask.ON_NUDGE;
        }
        long before = forgotten();
        long now = lookup.getAsLong();
        synchronized (this) {
            if (now > settled && before == forgotten) {
                settled = now;
                notifyAll();
            }
        }
        return POLL_INTERVAL;
    }

    /** Whether to poll: not without watchers, and not once the server stops. */
    private synchronized boolean watched() {
        looking = watchers > 0 && !shutdown.hasBegun();
        if (!looking) {
            notifyAll();
        }
        return looking;
    }
}
