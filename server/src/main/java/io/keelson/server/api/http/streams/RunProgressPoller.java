package io.keelson.server.api.http.streams;

import io.keelson.server.api.http.support.ShutdownSignal;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.engine.store.read.RunReader.Progress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Polls the progress of watched runs: one query for all of them, a few times a second, and none without
 * watchers. Covers commits of all servers. Thread-safe.
 */
public final class RunProgressPoller {

    private static final Duration POLL_INTERVAL = Duration.ofMillis(100);

    /** Looks up how far runs have come; a run that is gone is not among them. */
    public interface Lookup {
        Map<UUID, Progress> of(Set<UUID> runs);
    }

    private static final class Watched {
        private int watchers;
        private Progress known;

        private Watched(Progress known) {
            this.known = known;
        }
    }

    private final Lookup lookup;
    private final ShutdownSignal shutdown;
    private final Map<UUID, Watched> runs = new HashMap<>();
    private final BackgroundTask task = BackgroundTask.paced("run-progress", POLL_INTERVAL, this::look);
    private boolean looking;

    public RunProgressPoller(Lookup lookup, ShutdownSignal shutdown) {
        this.lookup = lookup;
        this.shutdown = shutdown;
    }

    public BackgroundTask task() {
        return task;
    }

    /** One watcher of a run, until it is closed. */
    public final class Watch implements AutoCloseable {
        private final UUID run;
        private final Watched watched;

        private Watch(UUID run, Watched watched) {
            this.run = run;
            this.watched = watched;
        }

        /**
         * Waits for an event after a sequence number, until the timeout or until the server stops.
         *
         * @return the progress at that time
         */
        public Progress await(long after, Duration timeout) throws InterruptedException {
            long end = System.nanoTime() + timeout.toNanos();
            synchronized (RunProgressPoller.this) {
                for (long left = timeout.toMillis(); watched.known.lastSeq() <= after && left > 0
                        && !shutdown.hasBegun();) {
                    RunProgressPoller.this.wait(left);
                    left = (end - System.nanoTime()) / 1_000_000;
                }
                return watched.known;
            }
        }

        @Override
        public void close() {
            synchronized (RunProgressPoller.this) {
                if (--watched.watchers == 0) {
                    runs.remove(run);
                }
            }
        }
    }

    /** @param known how far it has come by the caller's own look */
    public synchronized Watch watch(UUID run, Progress known) {
        Watched watched = runs.computeIfAbsent(run, id -> new Watched(known));
        watched.watchers++;
        if (!looking) {
            looking = true;
            task.nudge();
        }
        return new Watch(run, watched);
    }

    private Duration look() {
        Set<UUID> watched = watched();
        if (watched.isEmpty()) {
            return BackgroundTask.ON_NUDGE;
        }
        Map<UUID, Progress> news = lookup.of(watched);
        synchronized (this) {
            boolean any = false;
            for (Map.Entry<UUID, Progress> each : news.entrySet()) {
                Watched old = runs.get(each.getKey());
                if (old != null && old.known.lastSeq() < each.getValue().lastSeq()) {
                    old.known = each.getValue();
                    any = true;
                }
            }
            if (any) {
                notifyAll();
            }
        }
        return POLL_INTERVAL;
    }

    /** The watched runs; none once the server stops. Without any, polling ends. */
    private synchronized Set<UUID> watched() {
        looking = !runs.isEmpty() && !shutdown.hasBegun();
        if (!looking) {
            notifyAll();
            return Set.of();
        }
        return Set.copyOf(runs.keySet());
    }
}
