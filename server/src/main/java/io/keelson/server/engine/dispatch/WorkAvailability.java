package io.keelson.server.engine.dispatch;

import io.keelson.core.decide.ChangeSet.Given;
import io.keelson.core.decide.ChangeSet.QueueItem;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.run.StepAssignment;
import io.keelson.server.engine.tool.SlotKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Wakes searches that may find work, and leases steps that commits of this node open to waiting claims of workers. Work that
 * this node queues wakes the searches for its tool and workspace; all other wake-ups are for every search and may be spurious.
 * The {@code DueWorkPoller} signals work that other nodes have queued, for as long as it is queued.
 */
public final class WorkAvailability implements LocalCapacity.RemoteSlots {
    /**
     * Steps that a worker takes without another search.
     *
     * @param slots maximum number of steps
     * @param chained see {@link LocalCapacity.RemoteSlot#chained}
     * @param version of the worker
     * @param gone true once the worker cannot be answered; commits call it
     */
    record Offer(String worker, Duration lease, int slots, Set<String> chained, String version,
            BooleanSupplier gone) {

        private Offer of(int other) {
            return new Offer(worker, lease, other, chained, version, gone);
        }
    }

    /** One slot of an offer. */
    private record Slot(Watch watch, String holder, Duration lease, Set<String> chained, String version)
            implements LocalCapacity.RemoteSlot {}

    /**
     * A search that is repeated when there may be work for it: {@link #news}, then the search, then {@link #await}. Work
     * that is queued during the search ends the wait. One thread waits.
     */
    public final class Watch implements AutoCloseable {
        /** An unknown number of items. */
        private static final int ALL = Integer.MAX_VALUE / 4;

        private final @Nullable UUID workspace;
        private final Predicate<String> tools;
        private final @Nullable String version;
        private final Condition changed = lock.newCondition();
        private final List<StepAssignment> given = new ArrayList<>();
        /** The number of queued items that no search has looked for, or {@link #ALL}. */
        private int unseen = ALL;
        /** The number of items that the search in progress may find. */
        private int sought;
        /** Null while it does not wait for steps. */
        private @Nullable Offer offer;
        /** Slots that the worker has freed since the offer. */
        private int freed;
        /** Slots that commits in progress have taken. */
        private int promised;

        private Watch(@Nullable UUID workspace, Predicate<String> tools, @Nullable String version) {
            this.workspace = workspace;
            this.tools = tools;
            this.version = version;
        }

        /** Whether there may be work since the last call; true the first time. */
        public boolean news() {
            lock.lock();
            try {
                return seek() > 0;
            } finally {
                lock.unlock();
            }
        }

        /** Begins a search. Returns the maximum number of its items; 0 if none are queued. Steps of the offer have other slots. */
        int seek() {
            lock.lock();
            try {
                sought = unseen;
                unseen = 0;
                return sought;
            } finally {
                lock.unlock();
            }
        }

        /** Begins a search for slots beyond the offer. Returns the number of items to search for. */
        int seek(int most) {
            lock.lock();
            try {
                int items = Math.min(unseen, most);
                unseen = unseen >= ALL && items > 0 ? 0 : unseen - items;
                return items;
            } finally {
                lock.unlock();
            }
        }

        /** A search has left work in the queue: the next one may find it. */
        void leavesWork() {
            lock.lock();
            try {
                wake(ALL);
            } finally {
                lock.unlock();
            }
        }

        /** Waits for news, at most for that time. */
        public void await(long millis) throws InterruptedException {
            lock.lock();
            try {
                long left = TimeUnit.MILLISECONDS.toNanos(millis);
                while (unseen == 0 && left > 0) {
                    left = changed.awaitNanos(left);
                }
            } finally {
                lock.unlock();
            }
        }

        /**
         * Waits, and takes steps that commits of this node open meanwhile, for {@link #withdraw} or {@link #collect}. Ends with the
         * first of these commits; the offer does not.
         */
        void await(long millis, Offer offered) throws InterruptedException {
            lock.lock();
            try {
                offer(offered);
                long left = TimeUnit.MILLISECONDS.toNanos(millis);
                while (unseen == 0 && given.isEmpty() && left > 0) {
                    left = changed.awaitNanos(left);
                }
            } finally {
                lock.unlock();
            }
        }

        /** The search has ended. Takes steps from now on, until {@link #withdraw}, which returns them. */
        void offer(Offer offered) {
            lock.lock();
            try {
                offer = offered;
                sought = 0;
            } finally {
                lock.unlock();
            }
        }

        /** Adds slots that the worker has freed since its last claim began. */
        void free(int slots) {
            lock.lock();
            try {
                freed += slots;
            } finally {
                lock.unlock();
            }
        }

        /** A further claim begins, with all free slots. */
        void begin() {
            lock.lock();
            try {
                freed = 0;
            } finally {
                lock.unlock();
            }
        }

        /** Returns steps taken so far, up to the slots of the offer, and takes steps for its other slots. */
        List<StepAssignment> collect(Offer offered) {
            lock.lock();
            try {
                List<StepAssignment> steps = collect(offered.slots);
                offer(offered.of(offered.slots - steps.size()));
                return steps;
            } finally {
                lock.unlock();
            }
        }

        /** Returns steps taken so far, up to that number, for slots beyond the offer. */
        List<StepAssignment> collect(int most) {
            lock.lock();
            try {
                List<StepAssignment> first = given.subList(0, Math.min(given.size(), most));
                List<StepAssignment> steps = List.copyOf(first);
                first.clear();
                return steps;
            } finally {
                lock.unlock();
            }
        }

        /** Takes no more steps, and returns the steps taken since the last call. */
        List<StepAssignment> withdraw() {
            lock.lock();
            try {
                endOffer();
                List<StepAssignment> steps = List.copyOf(given);
                given.clear();
                return steps;
            } finally {
                lock.unlock();
            }
        }

        /** Ends the search, and returns the steps taken since the last call. */
        List<StepAssignment> end() {
            close();
            return withdraw();
        }

        /** Waits for the ends of commits that have taken slots. */
        private void endOffer() {
            offer = null;
            while (promised > 0) {
                changed.awaitUninterruptibly();
            }
        }

        private @Nullable Slot take(UUID of, String tool, @Nullable String wanted) {
            if (offer == null || promised + given.size() + unseen + sought >= offer.slots + freed
                    || !of.equals(workspace)
                    || wanted != null && !wanted.equals(offer.version) || !tools.test(tool)
                    || offer.gone.getAsBoolean()) {
                return null;
            }
            promised++;
            return new Slot(this, offer.worker, offer.lease, offer.chained, offer.version);
        }

        private boolean concerns(QueueItem item) {
            return (workspace == null || workspace.equals(item.workspaceId())) && tools.test(item.tool())
                    && (version == null || item.lot() == null || version.equals(item.lot().version()));
        }

        private void wake(long items) {
            unseen = (int) Math.min(ALL, unseen + items);
            changed.signal();
        }

        @Override
        public void close() {
            lock.lock();
            try {
                watches.remove(this);
            } finally {
                lock.unlock();
            }
        }
    }

    private final LocalQueue localQueue;
    private final ReentrantLock lock = new ReentrantLock();
    private final Set<Watch> watches = new LinkedHashSet<>();
    private final Watch here;
    private boolean heldBack;

    /**
     * @param localTools the tools that this node's executors run
     * @param slots the kind of slot that a call of a tool uses
     */
    public WorkAvailability(Predicate<String> localTools, Function<String, SlotKind> slots) {
        this.localQueue = new LocalQueue(localTools, slots);
        this.here = watch(null, localTools, null);
    }

    /** The search for this node's executors. */
    public Watch here() {
        return here;
    }

    /** The queued work for this node's executors. */
    public LocalQueue localQueue() {
        return localQueue;
    }

    /**
     * Begins a search for work.
     *
     * @param workspace null for all
     * @param version of the worker; null if work for any version matters
     */
    public Watch watch(@Nullable UUID workspace, Predicate<String> tools, @Nullable String version) {
        lock.lock();
        try {
            Watch watch = new Watch(workspace, tools, version);
            watches.add(watch);
            return watch;
        } finally {
            lock.unlock();
        }
    }

    /** Takes a slot of the claim that waits longest, for a commit; {@link #settled} ends it. */
    @Override
    public LocalCapacity.@Nullable RemoteSlot take(UUID workspace, String tool, @Nullable String version) {
        lock.lock();
        try {
            for (Watch watch : watches) {
                Slot slot = watch.take(workspace, tool, version);
                if (slot != null) {
                    return slot;
                }
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    /** These steps are committed. */
    public void give(Collection<Given> steps) {
        lock.lock();
        try {
            for (Given step : steps) {
                if (step.slot() instanceof Slot slot) {
                    slot.watch.given.add(step.assignment());
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** The commit that took these slots has ended. Those without a step are free again. */
    public void settled(Collection<LocalCapacity.RemoteSlot> slots) {
        lock.lock();
        try {
            for (LocalCapacity.RemoteSlot each : slots) {
                if (each instanceof Slot slot) {
                    slot.watch.promised--;
                    slot.watch.changed.signal();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** These items were queued and have no holder. */
    public void queued(Collection<QueueItem> items) {
        lock.lock();
        try {
            localQueue.add(items);
            for (Watch watch : watches) {
                long concerning = items.stream().filter(watch::concerns).count();
                if (concerning > 0) {
                    watch.wake(concerning);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** An executor slot of this node is free: its claimer searches again if there may be work for it. */
    public void slotFreed(SlotKind kind) {
        lock.lock();
        try {
            if (localQueue.waiting(kind) > 0) {
                here.wake(1);
            }
        } finally {
            lock.unlock();
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

    /** Wakes all searches. */
    public void signal() {
        lock.lock();
        try {
            watches.forEach(watch -> watch.wake(Watch.ALL));
        } finally {
            lock.unlock();
        }
    }
}
