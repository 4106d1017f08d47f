package io.keelson.server.engine.upkeep;

import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.store.RunStore;
import io.keelson.server.engine.store.RunTurn;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Admits runs that wait for a concurrency key. Counts running runs each time, on one node at a time until the
 * admissions are committed. So a place is never used twice, and a crash loses none. Admissions of rates are stored before
 * them: a crash in between loses the time of some runs, and admits none too early.
 */
public final class ConcurrencyKeyScheduler implements AutoCloseable {
    private static final int BATCH_SIZE = 500;

    private final Database database;
    private final RunStore store;
    private final Function<Command, CompletableFuture<Reply>> commands;
    private final BackgroundTask task = BackgroundTask.paced("concurrency-keys", BackgroundTask.ON_NUDGE, this::admit);

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

    /**
     * Admits runs within their limits, unless another node is doing so.
     *
     * @return the time after which a rate admits the next run
     */
    Duration admit() {
        RunTurn.Admitted admitted;
        do {
            admitted = database.inTransaction(c -> {
                RunTurn.Admitted turns = RunTurn.admit(store.admissible(c, BATCH_SIZE));
                if (!turns.rates().isEmpty()) {
                    database.runInTransaction(own -> RunTurn.store(own, turns.rates()));
                }
                List<CompletableFuture<Reply>> answers = turns.runs().stream()
                        .map(run -> commands.apply(new Command.Admit(run, Actor.SYSTEM))).toList();
                answers.forEach(CompletableFuture::join);
                return turns;
            });
        } while (admitted.runs().size() == BATCH_SIZE);
        return admitted.next() == null ? BackgroundTask.ON_NUDGE : admitted.next();
    }

    public BackgroundTask task() {
        return task;
    }

    @Override
    public void close() throws InterruptedException {
        task.close();
    }
}
