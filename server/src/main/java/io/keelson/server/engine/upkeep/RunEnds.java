package io.keelson.server.engine.upkeep;

import io.keelson.core.decide.RunRow;
import io.keelson.core.lifecycle.RunState;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.commit.Commands.RunEnd;
import io.keelson.server.engine.store.EndedRun;
import io.keelson.server.engine.store.RunStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Waiters for ends of runs: notified at once by this node's commits, and by polling of other nodes' commits. */
public final class RunEnds {
    private final Database database;
    private final RunStore store;
    private final Map<UUID, List<CompletableFuture<RunEnd>>> waiting = new ConcurrentHashMap<>();

    public RunEnds(Database database, RunStore store) {
        this.database = database;
        this.store = store;
    }

    /** Completes with the next end of the run; the caller cancels it to stop waiting. */
    public CompletableFuture<RunEnd> next(UUID run) {
        CompletableFuture<RunEnd> end = new CompletableFuture<>();
        waiting.compute(run, (id, others) -> {
            List<CompletableFuture<RunEnd>> all = others == null ? new ArrayList<>(1) : new ArrayList<>(others);
            all.add(end);
            return all;
        });
        end.whenComplete((ended, failure) -> forget(run, end));
        return end;
    }

    private void forget(UUID run, CompletableFuture<RunEnd> end) {
        waiting.computeIfPresent(run, (id, all) -> {
            List<CompletableFuture<RunEnd>> left = all.stream().filter(each -> each != end).toList();
            return left.isEmpty() ? null : left;
        });
    }

    /** @param stored the run as the commit of its end has stored it; evaluated if there are waiters */
    public void ended(RunRow run, Supplier<@Nullable EndedRun> stored) {
        ended(run.id(), run.state(), stored);
    }

    private void ended(UUID run, RunState state, Supplier<@Nullable EndedRun> stored) {
        List<CompletableFuture<RunEnd>> all = waiting.remove(run);
        if (all != null) {
            RunEnd ended = new RunEnd(state, stored.get());
            all.forEach(end -> end.complete(ended));
        }
    }

    /** Notifies waiters of runs that other nodes have ended. */
    public void poll() {
        Set<UUID> awaited = Set.copyOf(waiting.keySet());
        if (!awaited.isEmpty()) {
            database.withConnection(c -> store.ended(c, awaited))
                    .forEach((run, state) -> ended(run, state, () -> null));
        }
    }
}
