package io.keelson.server.engine.dispatch;

import io.keelson.server.engine.upkeep.DueWorkPoller;
import io.keelson.server.tool.SlotKind;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Signals that work may be available. Wake-ups may be spurious. The {@link DueWorkPoller} signals work that other nodes
 * have queued, for as long as it is queued.
 */
public final class WorkAvailability {
    /** Work for slots of one kind. */
    private static final class Kind {
        /** Items that this node has queued for its own tools. */
        private long queuedHere;
        /** Of them, those that the last search of the queue must have found. */
        private long accounted;
        private boolean moreThanKnown = true;
    }

    private final Predicate<String> localTools;
    private final Function<String, SlotKind> slots;
    private final Map<SlotKind, Kind> kinds = new EnumMap<>(SlotKind.class);
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private long tick;
    private boolean heldBack;

    /**
     * @param localTools the tools that this node's executors run
     * @param slots what a call of such a tool uses
     */
    public WorkAvailability(Predicate<String> localTools, Function<String, SlotKind> slots) {
        this.localTools = localTools;
        this.slots = slots;
        for (SlotKind kind : SlotKind.values()) {
            kinds.put(kind, new Kind());
        }
    }

    private Kind kind(SlotKind kind) {
        return Objects.requireNonNull(kinds.get(kind));
    }

    /** Work was queued for these tools, each named once per item. */
    public void queued(Collection<String> tools) {
        lock.lock();
        try {
            tick++;
            tools.stream().filter(localTools).forEach(tool -> kind(slots.apply(tool)).queuedHere++);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** An executor slot of this node is free: its claimer searches again if there may be work for it. */
    public void slotFreed(SlotKind kind) {
        if (waiting(kind) > 0) {
            signal();
        }
    }

    /** A search has skipped work because its workspace has reached a limit. */
    void heldBack() {
        lock.lock();
        try {
            heldBack = true;
        } finally {
            lock.unlock();
        }
    }

    /** Work has ended: skipped work may be within its limits now. */
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

    /** Wakes all waiters. */
    public void signal() {
        queued(List.of());
    }

    /** Items queued by this node for its own tools of the kind so far, for {@link #looked}. */
    public long queuedHere(SlotKind kind) {
        lock.lock();
        try {
            return kind(kind).queuedHere;
        } finally {
            lock.unlock();
        }
    }

    /**
     * A search has found work for this node's tools of the kind, which it will be asked to claim.
     *
     * @param queuedBefore {@link #queuedHere} before the search
     * @param all whether it found all work within the limits
     */
    public void looked(SlotKind kind, long queuedBefore, boolean all) {
        lock.lock();
        try {
            kind(kind).accounted = queuedBefore;
            kind(kind).moreThanKnown = !all;
        } finally {
            lock.unlock();
        }
    }

    /** Maximum queued work for this node's tools of the kind: that many slots must stay free for it. */
    public int waiting(SlotKind kind) {
        lock.lock();
        try {
            Kind found = kind(kind);
            return found.moreThanKnown ? Integer.MAX_VALUE
                    : (int) Math.min(Integer.MAX_VALUE, found.queuedHere - found.accounted);
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

    /** The same, with a timeout. */
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
