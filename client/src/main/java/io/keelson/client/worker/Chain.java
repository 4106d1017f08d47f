package io.keelson.client.worker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The steps of one assignment, which one thread executes one after another. Their results have one report. A step's lease begins when
 * the results of those before it are reported: a step that has news for the server reports them first.
 */
final class Chain {

    /** No further step begins after this time, and a tool whose last execution took longer does not follow. */
    static final Duration LONGEST = Duration.ofMillis(20);

    private final ResultReporter reports;
    private final Slots slots;
    private final long begun = System.nanoTime();
    /** Held until the results that were sent are answered: further ones come after them. */
    private final ReentrantLock sending = new ReentrantLock();
    private final List<ResultReporter.Result> waiting = new ArrayList<>();
    /** Null if it has ended and the next one has not begun. */
    private @Nullable Execution atWork;

    Chain(Execution first, ResultReporter reports, Slots slots) {
        this.reports = reports;
        this.slots = slots;
        this.atWork = first;
    }

    /** The next step is about to be executed. Returns false if the server has already given it out. */
    synchronized boolean begin(Execution next) {
        if (!slots.expect(next)) {
            return false;
        }
        atWork = next;
        return true;
    }

    /** The step at work has a result. Returns false if the chain ends with it. */
    boolean add(Execution execution, ExecutionResult result) {
        boolean plain = result.kind() == ExecutionResult.Kind.COMPLETE && !result.isAlone();
        if (!plain && !lead()) {
            slots.free(execution);
            return false;
        }
        synchronized (this) {
            atWork = null;
            waiting.add(new ResultReporter.Result(execution, result));
        }
        return plain;
    }

    /** Whether results have waited for so long for the step at work. */
    synchronized boolean waitsFor(Duration time) {
        return !waiting.isEmpty() && System.nanoTime() - begun >= time.toNanos();
    }

    /**
     * Reports the results of the steps before the one at work, and waits for the answer. Returns whether its lease has begun; otherwise
     * it is stopped.
     */
    boolean lead() {
        try {
            sending.lockInterruptibly();
            try {
                List<ResultReporter.Result> results = take();
                if (!results.isEmpty()) {
                    reports.add(results).await();
                }
                return keepsGoing();
            } finally {
                sending.unlock();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            stop();
            return false;
        }
    }

    /** Reports the results that wait. */
    void end() {
        sending.lock();
        try {
            report();
        } finally {
            sending.unlock();
        }
    }

    /** Hands the results that wait to the reporter, under the lock {@code sending}. */
    private void report() {
        List<ResultReporter.Result> results = take();
        if (!results.isEmpty()) {
            reports.add(results);
        }
    }

    /** The worker stops: reports the results, and stops a step whose lease has not begun. */
    void abandon() {
        synchronized (this) {
            if (atWork != null && !slots.holds(atWork)) {
                atWork.stop(Stop.LOST);
            }
        }
        if (sending.tryLock()) { // otherwise the chain's thread reports them later
            try {
                report();
            } finally {
                sending.unlock();
            }
        }
    }

    /** Whether the lease of the first step without a report has begun. If not, drops the results and stops the step at work. */
    private synchronized boolean keepsGoing() {
        Execution next = waiting.isEmpty() ? atWork : waiting.get(0).execution();
        if (next == null || slots.holds(next)) {
            return true;
        }
        drop();
        return false;
    }

    private synchronized void drop() {
        waiting.forEach(each -> slots.free(each.execution()));
        waiting.clear();
        stop();
    }

    private synchronized void stop() {
        if (atWork != null) {
            atWork.stop(Stop.LOST);
        }
    }

    private synchronized List<ResultReporter.Result> take() {
        List<ResultReporter.Result> results = List.copyOf(waiting);
        waiting.clear();
        return results;
    }
}
