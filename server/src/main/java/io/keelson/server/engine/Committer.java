package io.keelson.server.engine;

import io.keelson.core.run.Command;
import io.keelson.core.run.Ids;
import io.keelson.core.run.Reply;
import io.keelson.server.db.Database;
import io.keelson.server.run.RunStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Group commit: all commands of a run go through the same loop, in the order in which they came. */
final class Committer implements AutoCloseable {
    private static final int MAX_WAITING = 20_000;
    private static final int VIEW_ROWS = 250_000;

    private final List<CommitLoop> loops = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();

    Committer(Database database, RunStore store, Ids ids, Aftermath node, int loopCount) {
        for (int i = 0; i < loopCount; i++) {
            CommitLoop loop = new CommitLoop(database,
                    new Flush(store, new ViewCache(VIEW_ROWS / loopCount), ids, node));
            loops.add(loop);
            threads.add(Thread.ofPlatform().name("committer-" + i).start(loop));
        }
    }

    /** As {@link Commands#submit}. */
    CompletableFuture<Reply> submit(Command command) {
        CommitLoop loop = loopOf(command);
        if (loop.waiting() > MAX_WAITING / loops.size()) {
            return CompletableFuture.failedFuture(new Commands.Overloaded());
        }
        return enqueue(loop, command);
    }

    /** For the engine's own commands, whose number is bounded by the work that is out: never refused. */
    CompletableFuture<Reply> submitOwn(Command command) {
        return enqueue(loopOf(command), command);
    }

    private static CompletableFuture<Reply> enqueue(CommitLoop loop, Command command) {
        Pending pending = new Pending(command);
        loop.add(pending);
        return pending.answer;
    }

    private CommitLoop loopOf(Command command) {
        return loops.get(Math.floorMod(command.runId().hashCode(), loops.size()));
    }

    /** Answers what was submitted and stops. */
    @Override
    public void close() throws InterruptedException {
        loops.forEach(CommitLoop::close);
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
