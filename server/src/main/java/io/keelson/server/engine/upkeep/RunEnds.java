package io.keelson.server.engine.upkeep;

import io.keelson.core.lifecycle.RunState;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.store.RunStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** Waiters for ends of runs: notified at once by this node's commits, and by polling of other nodes' commits. */
public final class RunEnds {
    private final Database database;
    private final RunStore store;
    private final Map<UUID, List<CompletableFuture<RunState>>> waiting = new ConcurrentHashMap<>();

    public RunEnds(Database database, RunStore store) {
        this.database = database;
        this.store = store;
    }

    /** Completes with the next terminal state of the run; the caller cancels it to stop waiting. */
    public CompletableFuture<RunState> next(UUID run) {
        CompletableFuture<RunState> end = new CompletableFuture<>();
        waiting.compute(run, (id, others) -> {
            List<CompletableFuture<RunState>> all = others == null ? new ArrayList<>(1) : new ArrayList<>(others);
            all.add(end);
            return all;
        });
        end.whenComplete((state, failure) -> forget(run, end));
        return end;
    }

    private void forget(UUID run, CompletableFuture<RunState> end) {
        waiting.computeIfPresent(run, (id, all) -> {
            List<CompletableFuture<RunState>> left = all.stream().filter(each -> each != end).toList();
            return left.isEmpty() ? null : left;
        });
    }

    public void ended(UUID run, RunState state) {
        List<CompletableFuture<RunState>> all = waiting.remove(run);
        if (all != null) {
            all.forEach(end -> end.complete(state));
        }
    }

    /** Notifies waiters of runs that other nodes have ended. */
    public void poll() {
        Set<UUID> awaited = Set.copyOf(waiting.keySet());
        if (!awaited.isEmpty()) {
            database.withConnection(c -> store.ended(c, awaited)).forEach(this::ended);
        }
    }
}
