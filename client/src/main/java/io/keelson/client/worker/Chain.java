package io.keelson.client.worker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
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
    private final List<ResultReporter.Result> waiting = new ArrayList<>();
    private @Nullable Execution atWork;

    Chain(Execution first, ResultReporter reports, Slots slots) {
        this.reports = reports;
        this.slots = slots;
        this.atWork = first;
    }

    /** The next step is about to be executed. */
    synchronized void begin(Execution next) {
        slots.expect(next);
        atWork = next;
    }

    /** The step at work has a result. Returns false if the chain ends with it. */
    boolean add(Execution execution, ExecutionResult result) {
        boolean plain = result.kind() == ExecutionResult.Kind.COMPLETE && !result.isAlone();
        if (!plain && !lead()) {
            slots.free(execution);
            return false;
        }
        synchronized (this) {
            waiting.add(new ResultReporter.Result(execution, result));
        }
        return plain;
    }

    /**
     * Reports the results of the steps before the one at work, and waits for the answer. Returns whether its lease has begun; otherwise
     * it is stopped.
     */
    boolean lead() {
        List<ResultReporter.Result> results = take();
        if (results.isEmpty()) {
            return true;
        }
        CountDownLatch settled = reports.add(results);
        Execution step = atWork();
        try {
            settled.await();
            if (step == null || slots.holds(step)) {
                return true;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (step != null) {
            step.stop(Stop.LOST);
        }
        return false;
    }

    /** Reports the results that wait. */
    void end() {
        List<ResultReporter.Result> results = take();
        if (!results.isEmpty()) {
            reports.add(results);
        }
    }

    /** The worker stops: reports the results, and stops a step whose lease has not begun. */
    void abandon() {
        List<ResultReporter.Result> results = take();
        Execution step = atWork();
        if (!results.isEmpty()) {
            if (step != null) {
                step.stop(Stop.LOST);
            }
            reports.add(results);
        }
    }

    private synchronized @Nullable Execution atWork() {
        return atWork;
    }

    private synchronized List<ResultReporter.Result> take() {
        List<ResultReporter.Result> results = List.copyOf(waiting);
        waiting.clear();
        return results;
    }
}
