package io.keelson.server.effect;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Resumes commands of crashed nodes, and commands whose next attempt is due. */
public final class CommandUpkeep implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(CommandUpkeep.class);
    private static final int BATCH_SIZE = 50;

    private final CommandHandler handler;
    private final Semaphore permits = new Semaphore(BATCH_SIZE);
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    public CommandUpkeep(CommandHandler handler) {
        this.handler = handler;
    }

    /** Signals that a command is due. Returns at once. */
    public void signal() {
        int free = permits.drainPermits();
        if (free == 0) {
            return;
        }
        try {
            threads.execute(() -> look(free));
        } catch (RuntimeException e) {
            permits.release(free);
            throw e;
        }
    }

    private void look(int free) {
        List<EffectCommand> taken = List.of();
        try {
            taken = handler.takeDue(free);
        } catch (RuntimeException e) {
            LOG.warn("could not claim due commands, retrying", e);
        } finally {
            permits.release(free - taken.size());
        }
        taken.forEach(command -> threads.execute(() -> drive(command)));
    }

    private void drive(EffectCommand command) {
        try {
            handler.drive(command);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.warn("could not record the outcome of command {}, retrying", command.id(), e);
        } finally {
            permits.release();
        }
    }

    /** Waits briefly for commands in progress; the rest is found by its lease. */
    @Override
    public void close() throws InterruptedException {
        threads.shutdown();
        if (!threads.awaitTermination(5, TimeUnit.SECONDS)) {
            threads.shutdownNow();
        }
    }
}
