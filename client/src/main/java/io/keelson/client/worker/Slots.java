package io.keelson.client.worker;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** How many steps the worker takes at a time, and which it has. A slot is held until the result is answered. */
final class Slots {

    private record Lease(String stepId, int epoch) {
        static Lease of(Execution execution) {
            return new Lease(execution.stepId(), execution.leaseEpoch());
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Map<Lease, Execution> taken = new HashMap<>();
    /** Executions whose leases have not begun; they use the slot of another step. */
    private final Map<Lease, Execution> expected = new HashMap<>();
    private final int size;
    private boolean closed;

    Slots(int size) {
        this.size = size;
    }

    /** Waits for a free slot and answers how many are free; 0 once closed. */
    int awaitFree() throws InterruptedException {
        lock.lock();
        try {
            while (taken.size() >= size && !closed) {
                changed.await();
            }
            return closed ? 0 : size - taken.size();
        } finally {
            lock.unlock();
        }
    }

    /** False when one under the same lease exists: a lost answer may arrive twice, and an expected lease may begin. */
    boolean take(Execution execution) {
        lock.lock();
        try {
            Lease lease = Lease.of(execution);
            Execution known = expected.remove(lease);
            Execution begun = known == null || known.lost() ? execution : known;
            if (taken.putIfAbsent(lease, begun) != null) {
                return false;
            }
            begun.leaseBegins();
            return begun == execution;
        } finally {
            lock.unlock();
        }
    }

    /** The execution is about to begin, and its lease begins later. Returns false if there is one under this lease. */
    boolean expect(Execution execution) {
        lock.lock();
        try {
            Lease lease = Lease.of(execution);
            if (taken.containsKey(lease)) {
                return false;
            }
            expected.put(lease, execution);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Whether the execution's lease has begun. */
    boolean holds(Execution execution) {
        return count(List.of(execution)) > 0;
    }

    /** The number of slots that these executions hold. */
    int count(Collection<Execution> executions) {
        lock.lock();
        try {
            return (int) executions.stream().filter(execution -> taken.get(Lease.of(execution)) == execution).count();
        } finally {
            lock.unlock();
        }
    }

    /** Gives the execution's slot back; a second time changes nothing. */
    void free(Execution execution) {
        free(List.of(execution));
    }

    /** Frees the slots of several executions at once, so that one claim fills them all. */
    void free(Collection<Execution> executions) {
        locked(() -> executions.forEach(execution -> {
            taken.remove(Lease.of(execution), execution);
            expected.remove(Lease.of(execution), execution);
        }));
        executions.forEach(Execution::ended);
    }

    void close() {
        locked(() -> closed = true);
    }

    List<Execution> taken() {
        lock.lock();
        try {
            return new ArrayList<>(taken.values());
        } finally {
            lock.unlock();
        }
    }

    /** Waits until no slot is taken; false when that takes longer. */
    boolean awaitIdle(long nanos) throws InterruptedException {
        long deadline = System.nanoTime() + nanos;
        lock.lock();
        try {
            while (!taken.isEmpty()) {
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    return false;
                }
                changed.await(left, TimeUnit.NANOSECONDS);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void locked(Runnable change) {
        lock.lock();
        try {
            change.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
