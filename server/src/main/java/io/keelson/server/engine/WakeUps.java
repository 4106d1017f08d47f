package io.keelson.server.engine;

import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * Tells those who wait for work that there may be some. Only a hint, which may come for nothing. What other nodes put in
 * the queue is told by the {@link Lookout}, for as long as it is there.
 */
final class WakeUps {
    private final Predicate<String> localTools;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private long tick;
    private boolean localWaiting = true;
    private boolean heldBack;

    WakeUps(Predicate<String> localTools) {
        this.localTools = localTools;
    }

    /** Work for these tools was put in the queue. */
    void queued(Set<String> tools) {
        lock.lock();
        try {
            tick++;
            localWaiting |= tools.stream().anyMatch(localTools);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** One of this node's executors is free: whoever claims for them looks again if there may be work. */
    void slotFreed() {
        if (othersWait()) {
            nudge();
        }
    }

    /** A look has passed over work for which there was no room in its workspace. */
    void heldBack() {
        lock.lock();
        try {
            heldBack = true;
        } finally {
            lock.unlock();
        }
    }

    /** Work has ended: there may be room for what was passed over. */
    void laneFreed() {
        lock.lock();
        try {
            if (heldBack) {
                heldBack = false;
                nudge();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Makes everybody look again. */
    void nudge() {
        queued(Set.of());
    }

    /** A look at the queue found no more work for this node's tools than was taken. */
    void drained(long seenAt) {
        lock.lock();
        try {
            localWaiting = tick != seenAt;
        } finally {
            lock.unlock();
        }
    }

    /** True while the queue may hold work for this node's tools: nothing may then be started past it. */
    boolean othersWait() {
        lock.lock();
        try {
            return localWaiting;
        } finally {
            lock.unlock();
        }
    }

    /** The number of the last wake-up, for {@link #await}. */
    long tick() {
        lock.lock();
        try {
            return tick;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until something has been queued since {@code seen}. */
    void await(long seen) throws InterruptedException {
        await(seen, Long.MAX_VALUE);
    }

    /** The same, at most so long. */
    void await(long seen, long millis) throws InterruptedException {
        lock.lock();
        try {
            long left = TimeUnit.MILLISECONDS.toNanos(millis);
            while (tick == seen && left > 0) {
                left = changed.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }
}
