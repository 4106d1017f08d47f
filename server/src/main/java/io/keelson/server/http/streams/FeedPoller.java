package io.keelson.server.http.streams;

import io.keelson.server.db.SqlFailure;
import io.keelson.server.http.support.ShutdownSignal;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls the id up to which events are settled, for all workspace streams: one query a few times a second, and
 * none without streams. Thread-safe.
 */
public final class FeedPoller {

    private static final Logger LOG = LoggerFactory.getLogger(FeedPoller.class);
    private static final Duration LOOK = Duration.ofMillis(100);

    private final LongSupplier lookup;
    private final ShutdownSignal shutdown;
    private int watchers;
    private boolean looking;
    private long settled = -1;

    /** @param lookup looks, on one thread at a time; -1 as long as nothing is known */
    public FeedPoller(LongSupplier lookup, ShutdownSignal shutdown) {
        this.lookup = lookup;
        this.shutdown = shutdown;
    }

    /** One follower, until it is closed. */
    public final class Watch implements AutoCloseable {

        /** Waits until that id is settled, or the time is over or the server stops. The highest that is known then. */
        public long await(long id, Duration patience) throws InterruptedException {
            long end = System.nanoTime() + patience.toNanos();
            synchronized (FeedPoller.this) {
                for (long left = patience.toMillis(); settled < id && left > 0 && !shutdown.hasBegun();) {
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
            Thread.ofVirtual().name("feed-news").start(this::look);
        }
        return new Watch();
    }

    private void look() {
        try {
            while (watched()) {
                tell();
                if (shutdown.await(LOOK)) {
                    break;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        synchronized (this) {
            notifyAll();
        }
    }

    private synchronized boolean watched() {
        looking = watchers > 0;
        return looking;
    }

    private void tell() {
        try {
            long now = lookup.getAsLong();
            synchronized (this) {
                if (now > settled) {
                    settled = now;
                    notifyAll();
                }
            }
        } catch (SqlFailure e) {
            LOG.debug("could not read the event feed", e);
        } catch (RuntimeException e) {
            LOG.warn("could not read the event feed, retrying", e);
        }
    }
}
