package io.keelson.server.effect;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Goes on with commands that were left: by nodes that died, or to be tried again. */
public final class CommandUpkeep implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(CommandUpkeep.class);
    private static final int BATCH_SIZE = 50;

    private final CommandHandler handler;
    private final Semaphore room = new Semaphore(BATCH_SIZE);
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    public CommandUpkeep(CommandHandler handler) {
        this.handler = handler;
    }

    /** Something is due. Returns at once. */
    public void nudge() {
        int free = room.drainPermits();
        if (free == 0) {
            return;
        }
        try {
            threads.execute(() -> look(free));
        } catch (RuntimeException e) {
            room.release(free);
            throw e;
        }
    }

    private void look(int free) {
        List<EffectCommand> taken = List.of();
        try {
            taken = handler.takeDue(free);
        } catch (RuntimeException e) {
            LOG.warn("commands wait a moment longer, as looking for them failed", e);
        } finally {
            room.release(free - taken.size());
        }
        taken.forEach(command -> threads.execute(() -> drive(command)));
    }

    private void drive(EffectCommand command) {
        try {
            handler.drive(command);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.warn("what came of command {} could not be noted; it is looked at again", command.id(), e);
        } finally {
            room.release();
        }
    }

    /** What is under way has a moment to end; what does not is found by its lease. */
    @Override
    public void close() throws InterruptedException {
        threads.shutdown();
        if (!threads.awaitTermination(5, TimeUnit.SECONDS)) {
            threads.shutdownNow();
        }
    }
}
