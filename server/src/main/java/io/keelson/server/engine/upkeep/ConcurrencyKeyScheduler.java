package io.keelson.server.engine.upkeep;

import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.store.RunStore;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Admits runs that wait for a concurrency key. Counts running runs each time, on one node at a time until the
 * admissions are committed. So a place is never used twice, and a crash loses none.
 */
public final class ConcurrencyKeyScheduler implements AutoCloseable {
    private static final int BATCH_SIZE = 500;

    private final Database database;
    private final RunStore store;
    private final Function<Command, CompletableFuture<Reply>> commands;
    private final BackgroundTask task = BackgroundTask.onNudge("concurrency-keys", this::admit);

    public ConcurrencyKeyScheduler(Database database, RunStore store,
            Function<Command, CompletableFuture<Reply>> commands) {
        this.database = database;
        this.store = store;
        this.commands = commands;
    }

    /** A run with a key waits or has ended. Returns at once. */
    public void signal() {
        task.nudge();
    }

    /** Admits runs within their limits, unless another node is doing so. */
    void admit() {
        int admitted;
        do {
            admitted = database.inTransaction(c -> {
                List<UUID> runs = store.admissible(c, BATCH_SIZE);
                List<CompletableFuture<Reply>> answers = runs.stream()
                        .map(run -> commands.apply(new Command.Admit(run, Actor.SYSTEM))).toList();
                answers.forEach(CompletableFuture::join);
                return runs.size();
            });
        } while (admitted == BATCH_SIZE);
    }

    public BackgroundTask task() {
        return task;
    }

    @Override
    public void close() throws InterruptedException {
        task.close();
    }
}
