package io.keelson.server.engine.dispatch;

import io.keelson.server.engine.upkeep.DueWorkPoller;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * Tells those who wait for work that there may be some. Only a hint, which may come for nothing. What other nodes put in
 * the queue is told by the {@link DueWorkPoller}, for as long as it is there.
 */
public final class WorkAvailability {
    private final Predicate<String> localTools;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private long tick;
    /** Items that this node has put in the queue for its own tools. */
    private long queuedHere;
    /** Of them, those that the last look at the queue must have found. */
    private long accounted;
    private boolean moreThanKnown = true;
    private boolean heldBack;

    public WorkAvailability(Predicate<String> localTools) {
        this.localTools = localTools;
    }

    /** Work was put in the queue, for these tools, each named as often as there is work for it. */
    public void queued(Collection<String> tools) {
        lock.lock();
        try {
            tick++;
            queuedHere += tools.stream().filter(localTools).count();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** One of this node's executors is free: whoever claims for them looks again if there may be work. */
    public void slotFreed() {
        if (waiting() > 0) {
            signal();
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
    public void laneFreed() {
        lock.lock();
        try {
            if (heldBack) {
                heldBack = false;
                signal();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Makes everybody look again. */
    public void signal() {
        queued(List.of());
    }

    /** How much work this node has queued for its own tools so far, for {@link #looked}. */
    public long queuedHere() {
        lock.lock();
        try {
            return queuedHere;
        } finally {
            lock.unlock();
        }
    }

    /**
     * A look at the queue has found work for this node's tools, which it will be asked to take.
     *
     * @param queuedBefore what {@link #queuedHere} was before it
     * @param all whether it was all that there was room for
     */
    public void looked(long queuedBefore, boolean all) {
        lock.lock();
        try {
            accounted = queuedBefore;
            moreThanKnown = !all;
        } finally {
            lock.unlock();
        }
    }

    /**
     * How much the queue may hold for this node's tools, at most: so many slots must be left to it by what would be
     * started past it.
     */
    public int waiting() {
        lock.lock();
        try {
            return moreThanKnown ? Integer.MAX_VALUE : (int) Math.min(Integer.MAX_VALUE, queuedHere - accounted);
        } finally {
            lock.unlock();
        }
    }

    /** The number of the last wake-up, for {@link #await}. */
    public long tick() {
        lock.lock();
        try {
            return tick;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until something has been queued since {@code seen}. */
    public void await(long seen) throws InterruptedException {
        await(seen, Long.MAX_VALUE);
    }

    /** The same, at most so long. */
    public void await(long seen, long millis) throws InterruptedException {
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
