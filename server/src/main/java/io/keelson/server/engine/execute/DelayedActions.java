package io.keelson.server.engine.execute;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs short actions after a delay, on one thread. Uses relative times only, because the machine's clock may jump.
 *
 * <p>Nearly all actions are cancelled soon, so a cancelled action leaves the thread asleep until the time of that action. An action
 * that is due later does not wake the thread: an executor's queue wakes it for each action that comes alone. No background task,
 * because it waits for the next action.
 */
public final class DelayedActions implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DelayedActions.class);

    /** Cancels on close. */
    public interface Handle extends AutoCloseable {
        @Override
        void close();
    }

    /**
     * @param nanos since the start
     * @param number of the action, because several are due at the same time
     */
    private record Due(long nanos, long number) implements Comparable<Due> {
        @Override
        public int compareTo(Due other) {
            return nanos == other.nanos ? Long.compare(number, other.number) : Long.compare(nanos, other.nanos);
        }
    }

    private final long start = System.nanoTime();
    private final TreeMap<Due, Runnable> actions = new TreeMap<>();
    private final Thread thread;
    private long numbers;
    /** The time until which the thread sleeps. */
    private long wakes;
    private boolean closed;

    public DelayedActions() {
        thread = Thread.ofPlatform().daemon().name("timeouts").start(this::run);
    }

    /** Has no effect after the close. */
    public synchronized Handle after(Duration delay, Runnable action) {
        Due due = new Due(nanosSinceStart() + TimeUnit.MILLISECONDS.toNanos(Math.max(0, delay.toMillis())), numbers++);
        if (!closed) {
            actions.put(due, action);
            if (due.nanos < wakes) {
                wakes = due.nanos;
                notifyAll();
            }
        }
        return () -> cancel(due);
    }

    private synchronized void cancel(Due due) {
        actions.remove(due);
    }

    /** Number of scheduled actions. */
    public synchronized int size() {
        return actions.size();
    }

    /** For tests. */
    Thread thread() {
        return thread;
    }

    private long nanosSinceStart() {
        return System.nanoTime() - start;
    }

    @SuppressWarnings("IllegalCatch") // one action's failure does not concern the others
    private void run() {
        try {
            for (Runnable action = next(); action != null; action = next()) {
                try {
                    action.run();
                } catch (RuntimeException | Error e) {
                    LOG.error("a delayed action failed", e);
                }
            }
        } catch (InterruptedException e) {
            LOG.debug("delayed actions end", e);
        }
    }

    /** Waits for the next due action; null after the close. */
    private synchronized @Nullable Runnable next() throws InterruptedException {
        while (!closed) {
            Map.Entry<Due, Runnable> first = actions.firstEntry();
            long left = first == null ? Long.MAX_VALUE : first.getKey().nanos - nanosSinceStart();
            if (first != null && left <= 0) {
                actions.remove(first.getKey());
                return first.getValue();
            }
            wakes = first == null ? Long.MAX_VALUE : first.getKey().nanos;
            if (first == null) {
                wait();
            } else {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
            wakes = 0;
        }
        return null;
    }

    @Override
    public synchronized void close() {
        closed = true;
        actions.clear();
        thread.interrupt();
    }
}
