package io.keelson.server.annex.effect;

import io.keelson.server.base.background.BackgroundTask;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Resumes commands of crashed nodes, and commands whose next attempt is due. */
final class CommandUpkeep implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(CommandUpkeep.class);
    private static final int BATCH_SIZE = 50;

    private final CommandHandler handler;
    private final Semaphore permits = new Semaphore(BATCH_SIZE);
    private final BackgroundTask task = BackgroundTask.onNudge("commands", this::look);
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    public CommandUpkeep(CommandHandler handler) {
        this.handler = handler;
    }

    /** Signals that a command is due. Returns at once. */
    public void signal() {
        task.nudge();
    }

    private void look() throws InterruptedException {
        int free = permits.availablePermits();
        if (free > 0) {
            for (EffectCommand command : handler.takeDue(free)) {
                permits.acquire();
                threads.execute(() -> drive(command));
            }
        }
    }

    private void drive(EffectCommand command) {
        try {
            handler.drive(command);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.warn("could not record the outcome of command {}", command.id(), e);
        } finally {
            permits.release();
        }
    }

    /** Waits briefly for commands in progress; the rest is found by its lease. */
    public List<BackgroundTask> tasks() {
        return List.of(task, handler.unrecorded().task());
    }

    @Override
    public void close() throws InterruptedException {
        task.close();
        threads.shutdown();
        if (!threads.awaitTermination(5, TimeUnit.SECONDS)) {
            threads.shutdownNow();
        }
        handler.unrecorded().close();
    }
}
