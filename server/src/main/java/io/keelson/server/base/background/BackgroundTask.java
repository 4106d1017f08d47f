package io.keelson.server.base.background;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a step again and again on one daemon thread: a period after the end of the last run, and soon after a nudge.
 * Runs never overlap, and nudges before a run's start cause one run together. A failed run is logged and repeated, after
 * one second first and never later than after the period. A task without a next run soon gives its thread back.
 */
public final class BackgroundTask implements AutoCloseable {

    /** The period of a task that runs only when nudged. */
    public static final Duration ON_NUDGE = ChronoUnit.FOREVER.getDuration();

    private static final Logger LOG = LoggerFactory.getLogger(BackgroundTask.class);
    private static final Duration RETRY_DELAY = Duration.ofSeconds(1);
    private static final Duration MAX_RETRY_DELAY = Duration.ofMinutes(1);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);
    /** A task that keeps failing is logged once in this time. */
    private static final long LOG_NANOS = Duration.ofMinutes(1).toNanos();
    private static final long IDLE_THREAD_NANOS = Duration.ofSeconds(10).toNanos();

    /** One run. */
    public interface Step {
        /** @throws InterruptedException when the task is closed and the run takes too long to end */
        void run() throws InterruptedException;
    }

    /** One run of a task that sets its own pace. */
    public interface PacedStep {
        /**
         * @return delay until the next run without a nudge
         * @throws InterruptedException when the task is closed and the run takes too long to end
         */
        Duration run() throws InterruptedException;
    }

    /**
     * Counters of a task.
     *
     * @param failures runs that failed; they count as runs, too
     * @param lastDuration of the last run that ended; zero before it
     * @param sinceSuccess time since the end of the last successful run; without one, since the task was made
     */
    public record Statistics(long runs, long failures, Duration lastDuration, Duration sinceSuccess) {}

    private record Runs(long count, long failed, long lastNanos, long succeededAt) {

        Runs plus(boolean succeeded, long startedAt, long endedAt) {
            return new Runs(count + 1, succeeded ? failed : failed + 1, endedAt - startedAt,
                    succeeded ? endedAt : succeededAt);
        }
    }

    private final String name;
    private final Duration period;
    private final PacedStep step;
    private final Object turn = new Object();
    private @Nullable Thread thread;
    /** When the next run is due, by the monotonic clock; null without one. */
    private @Nullable Long due;
    private volatile boolean closed;
    private volatile Runs runs = new Runs(0, 0, 0, System.nanoTime());
    private int failures;
    private long loggedAt;

    private BackgroundTask(String name, Duration period, PacedStep step) {
        this.name = name;
        this.period = period;
        this.step = step;
    }

    /** A task that runs after each period, and when nudged. */
    public static BackgroundTask every(String name, Duration period, Step step) {
        return new BackgroundTask(name, period, () -> {
            step.run();
            return period;
        });
    }

    /** A task that runs only when nudged. */
    public static BackgroundTask onNudge(String name, Step step) {
        return every(name, ON_NUDGE, step);
    }

    /**
     * A task whose step returns the delay until its next run.
     *
     * @param period until the first run, and the longest delay after a failure
     */
    public static BackgroundTask paced(String name, Duration period, PacedStep step) {
        return new BackgroundTask(name, period, step);
    }

    /** Schedules the first run, one period from now. */
    public synchronized BackgroundTask start() {
        schedule(period);
        return this;
    }

    /** Schedules the first run at a random time before the end of the given one, as servers that start together share their work. */
    public synchronized BackgroundTask startWithin(Duration most) {
        schedule(Duration.ofNanos(ThreadLocalRandom.current().nextLong(most.toNanos())));
        return this;
    }

    /** Runs the step soon; after the current run, if there is one. Returns at once. */
    public synchronized void nudge() {
        schedule(Duration.ZERO);
    }

    /** Runs the step on this thread, and throws its exceptions. */
    public Duration runOnce() throws InterruptedException {
        synchronized (turn) {
            long startedAt = System.nanoTime();
            boolean succeeded = false;
            try {
                Duration next = step.run();
                succeeded = true;
                return next;
            } finally {
                runs = runs.plus(succeeded, startedAt, System.nanoTime());
            }
        }
    }

    public Statistics statistics() {
        Runs now = runs;
        return new Statistics(now.count, now.failed, Duration.ofNanos(now.lastNanos),
                Duration.ofNanos(System.nanoTime() - now.succeededAt));
    }

    public String name() {
        return name;
    }

    public Duration period() {
        return period;
    }

    /** Whether a long run should end early. */
    public boolean isClosed() {
        return closed;
    }

    private synchronized void schedule(Duration delay) {
        if (closed || delay.equals(ON_NUDGE)) {
            return;
        }
        due = System.nanoTime() + delay.toNanos();
        if (thread == null) {
            thread = Thread.ofPlatform().daemon().name(name).start(this::work);
        } else {
            notifyAll();
        }
    }

    private void work() {
        try {
            while (awaitDue()) {
                Duration next = attempt();
                synchronized (this) {
                    if (due == null) {
                        schedule(next);
                    }
                }
            }
        } catch (InterruptedException e) {
            LOG.debug("background task {} was interrupted", name, e);
        }
    }

    /** False when this thread is no longer needed. */
    private synchronized boolean awaitDue() throws InterruptedException {
        long idleUntil = System.nanoTime() + IDLE_THREAD_NANOS;
        while (!closed) {
            long left = (due == null ? idleUntil : due) - System.nanoTime();
            if (left > 0) {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            } else if (due == null) {
                thread = null;
                return false;
            } else {
                due = null;
                return true;
            }
        }
        return false;
    }

    private Duration attempt() throws InterruptedException {
        try {
            Duration next = runOnce();
            failures = 0;
            return next;
        } catch (RuntimeException | Error e) {
            Duration delay = retryDelay();
            if (failures++ == 0 || System.nanoTime() - loggedAt > LOG_NANOS) {
                loggedAt = System.nanoTime();
                LOG.warn("background task {} failed, retrying in {}", name, delay, e);
            }
            return delay;
        }
    }

    private Duration retryDelay() {
        Duration delay = RETRY_DELAY.multipliedBy(1L << Math.min(failures, Long.SIZE / 8));
        Duration longest = period.compareTo(MAX_RETRY_DELAY) < 0 ? period : MAX_RETRY_DELAY;
        return delay.compareTo(longest) < 0 ? delay : longest;
    }

    /** Starts no further run, and waits for the current one, which is interrupted after 5 seconds. */
    @Override
    public void close() throws InterruptedException {
        Thread running;
        synchronized (this) {
            closed = true;
            notifyAll();
            running = thread;
        }
        if (running != null && !running.join(CLOSE_TIMEOUT)) {
            LOG.warn("background task {} takes too long to end and is interrupted", name);
            running.interrupt();
        }
    }
}
