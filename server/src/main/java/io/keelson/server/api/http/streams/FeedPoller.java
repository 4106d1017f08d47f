package io.keelson.server.api.http.streams;

import io.keelson.server.api.http.support.ShutdownSignal;
import io.keelson.server.base.background.BackgroundTask;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Polls the id up to which events are settled, for all workspace streams: one query a few times a second, and
 * none without streams. Many followers are woken seldom, and in groups one after another, as each of them writes to its client:
 * other requests get the processor between two groups. Thread-safe.
 */
public final class FeedPoller {

    private static final Duration POLL_INTERVAL = Duration.ofMillis(100);
    /** A poll may wake all followers: with 400 of them and more, the interval grows with their number. */
    private static final Duration INTERVAL_PER_WATCHER = Duration.ofNanos(250_000);
    /** The time in which the groups are woken. */
    private static final Duration SPREAD_PER_WATCHER = Duration.ofNanos(50_000);
    private static final int GROUPS = 32;
    /** Fewer followers are woken at once. */
    private static final int MANY = 200;

    private final LongSupplier lookup;
    private final ShutdownSignal shutdown;
    private final BackgroundTask task = BackgroundTask.paced("event-feed", POLL_INTERVAL, this::look);
    private final List<Object> groups = Stream.generate(Object::new).limit(GROUPS).toList();
    private int watchers;
    private int watched;
    private boolean looking;
    private volatile long settled = -1;
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
        private final Object group;

        private Watch(Object group) {
            this.group = group;
        }

        /** Waits until that id is settled, or the time is over or the server stops. The highest that is known then. */
        public long await(long id, Duration timeout) throws InterruptedException {
            long end = System.nanoTime() + timeout.toNanos();
            synchronized (group) {
                for (long left = timeout.toMillis(); settled < id && left > 0 && !shutdown.hasBegun();) {
                    group.wait(left);
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
        return new Watch(groups.get(Math.floorMod(watched++, GROUPS)));
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
        int following = followers();
        if (following == 0) {
            wake(0);
            return BackgroundTask.ON_NUDGE;
        }
        long before = forgotten();
        long now = lookup.getAsLong();
        if (advance(now, before)) {
            wake(following);
        }
        return interval(following);
    }

    /** The time between two polls with that many followers. */
    static Duration interval(int following) {
        Duration interval = INTERVAL_PER_WATCHER.multipliedBy(following);
        return interval.compareTo(POLL_INTERVAL) > 0 ? interval : POLL_INTERVAL;
    }

    private synchronized boolean advance(long now, long before) {
        boolean news = now > settled && before == forgotten;
        settled = news ? now : settled;
        return news;
    }

    private void wake(int following) {
        long pause = following < MANY ? 0 : SPREAD_PER_WATCHER.multipliedBy(following).toNanos() / GROUPS;
        for (Object group : groups) {
            synchronized (group) {
                group.notifyAll();
            }
            if (pause > 0 && !shutdown.hasBegun()) {
                LockSupport.parkNanos(pause);
            }
        }
    }

    /** The followers to poll for: none once the server stops. */
    private synchronized int followers() {
        looking = watchers > 0 && !shutdown.hasBegun();
        return looking ? watchers : 0;
    }
}
