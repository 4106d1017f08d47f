package io.keelson.client.worker;

import io.keelson.api.worker.Heartbeat;
import io.keelson.api.worker.ReportAnswer;
import io.keelson.client.KeelsonException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the leases of executions that are older than a third of a lease: one call for all of them, and sooner, at most once a second,
 * for executions whose handlers have something to report, or after a lost call. The answers say which executions are no longer wanted.
 */
final class Heartbeats {

    private static final System.Logger LOG = System.getLogger(Heartbeats.class.getName());
    private static final Set<String> UNWANTED = Set.of("stop", "not_found");
    private static final Duration NEWS_DELAY = Duration.ofSeconds(1);
    /** A lost heartbeat is repeated so often in the time between two. */
    private static final int REPETITIONS = 4;
    /** With a shorter one, the answers that stop executions would be lost on a busy machine. */
    private static final Duration SHORTEST_LIMIT = Duration.ofSeconds(1);

    private final Dispatch dispatch;
    private final Slots slots;
    private final Duration interval;
    private final Duration answerLimit;
    private final Runnable before;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition news = lock.newCondition();
    private boolean hasNews;
    private volatile boolean repeats;
    private boolean failing;

    /** @param before called before each call with executions that are older */
    Heartbeats(Dispatch dispatch, Slots slots, Duration lease, Runnable before) {
        this.dispatch = dispatch;
        this.slots = slots;
        this.interval = lease.dividedBy(3);
        this.before = before;
        this.answerLimit = interval.compareTo(SHORTEST_LIMIT) < 0 ? SHORTEST_LIMIT : interval;
    }

    /** Beats until the thread is interrupted. */
    void run() {
        try {
            long last = System.nanoTime();
            while (true) {
                awaitNext(last);
                if (beatAll()) {
                    last = System.nanoTime();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Says that a handler has something to report. */
    void nudge() {
        lock.lock();
        try {
            hasNews = true;
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void awaitNext(long last) throws InterruptedException {
        lock.lock();
        try {
            while (true) {
                long now = System.nanoTime();
                long left = untilDue(last, now);
                if (repeats || hasNews) {
                    Duration delay = shorter(NEWS_DELAY, repeats ? interval.dividedBy(REPETITIONS) : interval);
                    left = Math.min(left, last + delay.toNanos() - now);
                }
                if (left <= 0) {
                    hasNews = false;
                    repeats = false;
                    return;
                }
                news.await(left, TimeUnit.NANOSECONDS);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Until a lease needs a heartbeat; an interval if there is no lease. Leases wait for each other, to be in one call. */
    private long untilDue(long last, long now) {
        long oldest = slots.taken().stream().filter(execution -> !execution.lost())
                .mapToLong(execution -> now - execution.signed()).max().orElse(0);
        return Math.max(last + interval.toNanos() / 2 - now, interval.toNanos() - oldest);
    }

    /** A call for the older executions and for news; false if there are none. */
    private boolean beatAll() {
        long old = System.nanoTime() - interval.toNanos();
        List<Execution> taken = slots.taken().stream().filter(execution -> !execution.lost()).toList();
        if (taken.stream().anyMatch(execution -> execution.signed() - old <= 0)) {
            before.run();
        }
        List<Execution> alive = taken.stream()
                .filter(execution -> execution.leased() - old <= 0 || !execution.journal().isEmpty()).toList();
        if (alive.isEmpty()) {
            return false;
        }
        try {
            beat(alive);
            failing = false;
        } catch (KeelsonException e) {
            LOG.log(failing ? Level.DEBUG : Level.WARNING, "heartbeat of {0} failed: {1}",
                    LogText.count(alive.size(), "step"), e.getMessage());
            failing = true;
            repeats = e.isTransient();
        }
        return true;
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /**
     * Sends the executions' new notes that are not part of their results before the results are reported. Waits for a
     * heartbeat in progress, which may carry some of them.
     */
    synchronized void flush(List<Execution> executions) {
        beat(executions.stream().filter(execution -> !execution.journal().isEmpty()).toList());
    }

    /**
     * Takes the notes of a final report. Waits for a heartbeat in progress, which may put notes back.
     *
     * @param earlier notes that were taken before and are not with the server
     */
    synchronized Heartbeat takeNotes(Execution execution, Heartbeat earlier) {
        execution.journal().putBack(earlier);
        return execution.journal().takeNotes();
    }

    /** Sends new notes with the heartbeat. One call at a time, so that log lines keep their order. */
    private synchronized void beat(List<Execution> executions) {
        if (executions.isEmpty()) {
            return;
        }
        List<Heartbeat> taken = new ArrayList<>();
        executions.forEach(execution -> taken.add(execution.journal().take()));
        long sent = System.nanoTime();
        try {
            List<@Nullable ReportAnswer> answers = dispatch.heartbeat(taken, answerLimit);
            for (int i = 0; i < taken.size(); i++) {
                executions.get(i).signed(sent);
                heed(executions.get(i), answers.get(i));
            }
        } catch (KeelsonException e) {
            if (Refusal.mayPass(e)) {
                for (int i = 0; i < taken.size(); i++) {
                    executions.get(i).journal().putBack(taken.get(i));
                }
            }
            throw e;
        }
    }

    private static void heed(Execution execution, @Nullable ReportAnswer answer) {
        if (answer == null || !UNWANTED.contains(answer.status())) {
            return;
        }
        Stop reason = Stop.of(answer.reason());
        if (execution.stop(reason)) {
            LOG.log(Level.INFO, "step {0} stops here: {1}", execution.stepId(),
                    reason == Stop.LOST ? "it waits, has ended, or another worker has it" : reason);
        }
    }
}
