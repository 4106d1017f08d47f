package io.keelson.server.http;

import io.keelson.server.db.SqlFailure;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Up to which id events are settled, for all who follow workspaces: one look at the database a few times a second, and
 * none while nobody follows. For any number of threads.
 */
final class FeedNews {

    private static final Logger LOG = LoggerFactory.getLogger(FeedNews.class);
    private static final Duration LOOK = Duration.ofMillis(100);

    private final LongSupplier lookup;
    private final Stopping stopping;
    private int watchers;
    private boolean looking;
    private long settled = -1;

    /** @param lookup looks, on one thread at a time; -1 as long as nothing is known */
    FeedNews(LongSupplier lookup, Stopping stopping) {
        this.lookup = lookup;
        this.stopping = stopping;
    }

    /** Somebody who follows until it is closed. */
    final class Watch implements AutoCloseable {

        /** Waits until that id is settled, or the time is over or the server stops. The highest that is known then. */
        long await(long id, Duration patience) throws InterruptedException {
            long end = System.nanoTime() + patience.toNanos();
            synchronized (FeedNews.this) {
                for (long left = patience.toMillis(); settled < id && left > 0 && !stopping.hasBegun();) {
                    FeedNews.this.wait(left);
                    left = (end - System.nanoTime()) / 1_000_000;
                }
                return settled;
            }
        }

        @Override
        public void close() {
            synchronized (FeedNews.this) {
                watchers--;
            }
        }
    }

    synchronized Watch watch() {
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
                if (stopping.await(LOOK)) {
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
            LOG.debug("no news of the feed", e);
        } catch (RuntimeException e) {
            LOG.warn("no news of the feed; it is looked for again", e);
        }
    }
}
