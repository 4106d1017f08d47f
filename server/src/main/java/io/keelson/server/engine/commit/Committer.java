package io.keelson.server.engine.commit;

import io.keelson.core.decide.Decider;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.RunView;
import io.keelson.core.decide.StepRow;
import io.keelson.core.money.Funds;
import io.keelson.core.money.OptimisticBalances;
import io.keelson.core.money.Prices;
import io.keelson.core.run.Command;
import io.keelson.core.run.Ids;
import io.keelson.core.run.Reply;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.engine.store.KeyUse;
import io.keelson.server.engine.store.RunStore;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Group commit by several threads: a run's commands are decided in order of submission, in one commit at a time. */
public final class Committer implements AutoCloseable {
    private static final int MAX_WAITING = 20_000;
    /** In characters. A mission in memory takes some four times the length of its text. */
    private static final long MAX_WAITING_TEXT = 32L << 20;
    private static final int VIEW_ROWS = 250_000;

    private final CommandQueue queue;
    private final List<Thread> threads = new ArrayList<>();
    private final List<Observer> observers;
    private final DiskSpace diskSpace;
    private final ViewCache views = new ViewCache(VIEW_ROWS);
    private final DatabaseTime time = new DatabaseTime(System::nanoTime);
    private final Ids ids;
    private final Database database;
    private final RunStore store;
    private final Supplier<Prices> prices;

    public Committer(Database database, RunStore store, Ids ids, CommitListener node, int threadCount,
            Supplier<Prices> prices, List<Observer> observers) {
        this.observers = observers;
        this.ids = ids;
        this.database = database;
        this.store = store;
        this.prices = prices;
        this.diskSpace = new DiskSpace(database);
        this.queue = new CommandQueue(MAX_WAITING, MAX_WAITING_TEXT, views::kind);
        BatchCommit batchCommit = new BatchCommit(store, views, ids, node,
                time, prices, observers);
        for (int i = 0; i < threadCount; i++) {
            threads.add(Thread.ofPlatform().name("committer-" + i)
                    .start(new CommitLoop(queue, database, batchCommit, diskSpace)));
        }
    }

    public CompletableFuture<Reply> submit(Command command, @Nullable KeyUse key) {
        return submit(new PendingCommand(command, key)).creation();
    }

    Draft.Replies submit(Command.Create create, @Nullable KeyUse key, Executed executed) {
        return submit(new PendingCommand(create, key, executed));
    }

    private Draft.Replies submit(PendingCommand pending) {
        if (!queue.offer(pending)) {
            observers.forEach(Observer::overloaded);
            pending.fail(new Commands.Overloaded());
        }
        return new Draft.Replies(pending.answer, pending.reported);
    }

    /** Decides to create a run, without a commit, as if its workspace could pay. */
    public Draft draft(Command.Create create, @Nullable KeyUse key, LocalCapacity capacity, Instant now) {
        return new Draft(this, create, key, now, ids, capacity, new Funds(prices.get(), new OptimisticBalances()));
    }

    /** Claims a lane, and records the report of its steps that were executed before, in one commit. */
    public Draft.Replies submitOwn(Command.Claim claim, Executed executed) {
        PendingCommand pending = new PendingCommand(claim, null, executed);
        if (!queue.add(pending)) {
            pending.fail(new Commands.Overloaded());
        }
        return new Draft.Replies(pending.answer, pending.reported);
    }

    /**
     * The steps that this node may execute before it claims these lanes, with the run of each, by their tasks. Reads missing views
     * without locks; the commits of the claims prove them.
     */
    public void unclaimed(Map<UUID, UUID> runsOfTasks, LocalCapacity capacity, BiConsumer<RunRow, List<StepRow>> take) {
        views.look(new HashSet<>(runsOfTasks.values()), database, store, found -> runsOfTasks.forEach((task, run) -> {
            RunView view = found.apply(run);
            List<StepRow> steps = view == null ? List.of()
                    : Decider.unclaimed(view, task, capacity, new Funds(prices.get(), new OptimisticBalances()));
            if (view != null && !steps.isEmpty()) {
                take.accept(view.run(), steps);
            }
        }));
    }

    /** For the engine's own commands, whose number is bounded by the work in progress: refused only after the close. */
    public CompletableFuture<Reply> submitOwn(Command command) {
        PendingCommand pending = new PendingCommand(command);
        return queue.add(pending) ? pending.answer : CompletableFuture.failedFuture(new Commands.Overloaded());
    }

    /** Whether the same command without a report would fail, too, or the outcome is unknown. */
    public static boolean isFinal(Throwable failure) {
        return switch (cause(failure)) {
            case Commands.KeyUsed _,Commands.Overloaded _ -> true;
            case SqlFailure sql -> sql.unavailable();
            case SQLException sql -> new SqlFailure(sql).unavailable();
            default -> false;
        };
    }

    /** The cause of a failed submission. */
    public static Throwable cause(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    /** Has the next commits read the database's clock. */
    public void clockMoved() {
        time.forget();
    }

    /** Drops the views of all runs: the database went back. */
    public void dropViews() {
        views.clear();
    }

    /** False while the database's disk is full. */
    public boolean hasRoom() {
        return diskSpace.left();
    }

    /** Commits and answers all submitted commands, then stops. */
    @Override
    public void close() throws InterruptedException {
        queue.close();
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
