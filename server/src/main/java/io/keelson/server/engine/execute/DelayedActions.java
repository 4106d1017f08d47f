package io.keelson.server.engine.execute;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Runs short actions after a delay, on one thread. Uses relative times only, because the machine's clock may jump. */
public final class DelayedActions implements AutoCloseable {

    /** Cancels on close. */
    public interface Handle extends AutoCloseable {
        @Override
        void close();
    }

    private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1,
            Thread.ofPlatform().daemon().name("timeouts").factory());

    public DelayedActions() {
        executor.setRemoveOnCancelPolicy(true);
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    public Handle after(Duration delay, Runnable action) {
        Future<?> future = executor.schedule(action, Math.max(0, delay.toMillis()), TimeUnit.MILLISECONDS);
        return () -> future.cancel(false);
    }

    /** Number of scheduled actions. */
    public int size() {
        return executor.getQueue().size();
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
