package io.keelson.server.mission.submission;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Bounds concurrent submissions of each workspace while several submit; further ones wait: a workspace with thousands
 * shares the processors with the others. A single workspace is not limited. For any number of threads.
 */
public final class FairSubmissionLimiter {
    /** How long a workspace counts as active. */
    private static final long ACTIVE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final Permit FREE = () -> {
    };

    private final int atOnce;
    private final LongSupplier nanoTime;
    /** Workspaces with running or waiting submissions. */
    private final Map<UUID, WorkspaceQueue> lines = new ConcurrentHashMap<>();
    private @Nullable UUID last;
    private long lastCame;
    private boolean shared;
    private long sharedUntil;

    /** @param atOnce how many of one workspace are made at a time */
    public FairSubmissionLimiter(int atOnce, LongSupplier nanoTime) {
        this.atOnce = atOnce;
        this.nanoTime = nanoTime;
    }

    /** Held while a run is being made. */
    public interface Permit extends AutoCloseable {
        @Override
        void close();
    }

    /** Waits for a turn. */
    public Permit enter(UUID workspace) throws InterruptedException {
        if (!shared(workspace)) {
            return FREE;
        }
        WorkspaceQueue queue =
                lines.compute(workspace, (id, there) -> (there == null ? new WorkspaceQueue(atOnce) : there).joined());
        try {
            queue.permits.acquire();
        } catch (InterruptedException e) {
            leave(workspace);
            throw e;
        }
        return () -> {
            queue.permits.release();
            leave(workspace);
        };
    }

    /** The last submission removes its workspace's queue. */
    private void leave(UUID workspace) {
        lines.computeIfPresent(workspace, (id, queue) -> queue.left());
    }

    /** Number of workspaces with running or waiting submissions, unlimited ones excluded. */
    int lines() {
        return lines.size();
    }

    /** The count changes only within the map, which serialises changes. */
    private static final class WorkspaceQueue {
        private final Semaphore permits;
        private int in;

        WorkspaceQueue(int atOnce) {
            permits = new Semaphore(atOnce, true);
        }

        WorkspaceQueue joined() {
            in++;
            return this;
        }

        /** Null when no submission is left. */
        @Nullable WorkspaceQueue left() {
            in--;
            return in == 0 ? null : this;
        }
    }

    private synchronized boolean shared(UUID workspace) {
        long now = nanoTime.getAsLong();
        if (last != null && !last.equals(workspace) && now - lastCame < ACTIVE_NANOS) {
            shared = true;
            sharedUntil = now + ACTIVE_NANOS;
        }
        last = workspace;
        lastCame = now;
        shared = shared && now - sharedUntil < 0;
        return shared;
    }
}
