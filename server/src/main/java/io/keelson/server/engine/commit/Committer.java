package io.keelson.server.engine.commit;

import io.keelson.core.money.Prices;
import io.keelson.core.run.Command;
import io.keelson.core.run.Ids;
import io.keelson.core.run.Reply;
import io.keelson.server.db.Database;
import io.keelson.server.run.KeyUse;
import io.keelson.server.run.RunStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Group commit: all commands of a run go through the same loop, in order of submission. */
public final class Committer implements AutoCloseable {
    private static final int MAX_WAITING = 20_000;
    /** In characters. A mission in memory takes some four times the length of its text. */
    private static final long MAX_WAITING_TEXT = 32L << 20;
    private static final int VIEW_ROWS = 250_000;

    private final List<CommitLoop> loops = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final Observer observer;
    private final DiskSpace diskSpace;

    public Committer(Database database, RunStore store, Ids ids, CommitListener node, int loopCount,
            Supplier<Prices> prices, Observer observer) {
        this.observer = observer;
        this.diskSpace = new DiskSpace(database);
        DatabaseTime time = new DatabaseTime(System::nanoTime);
        for (int i = 0; i < loopCount; i++) {
            CommitLoop loop = new CommitLoop(database,
                    new BatchCommit(store, new ViewCache(VIEW_ROWS / loopCount), ids, node, time, prices, observer),
                    diskSpace);
            loops.add(loop);
            threads.add(Thread.ofPlatform().name("committer-" + i).start(loop));
        }
    }

    /** As {@link Commands#submit}. */
    public CompletableFuture<Reply> submit(Command command, @Nullable KeyUse key) {
        PendingCommand pending = new PendingCommand(command, key);
        boolean queued = loopOf(command).offer(pending, MAX_WAITING / loops.size(), MAX_WAITING_TEXT / loops.size());
        if (!queued) {
            observer.overloaded();
            return CompletableFuture.failedFuture(new Commands.Overloaded());
        }
        return pending.answer;
    }

    /** For the engine's own commands, whose number is bounded by the work in progress: never refused. */
    public CompletableFuture<Reply> submitOwn(Command command) {
        PendingCommand pending = new PendingCommand(command);
        loopOf(command).add(pending);
        return pending.answer;
    }

    /** False while the database's disk is full. */
    public boolean hasRoom() {
        return diskSpace.left();
    }

    private CommitLoop loopOf(Command command) {
        return loops.get(Math.floorMod(command.runId().hashCode(), loops.size()));
    }

    /** Commits and answers all submitted commands, then stops. */
    @Override
    public void close() throws InterruptedException {
        loops.forEach(CommitLoop::close);
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
