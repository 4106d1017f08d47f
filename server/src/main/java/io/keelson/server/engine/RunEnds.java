package io.keelson.server.engine;

import io.keelson.core.lifecycle.RunState;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** Those who wait for runs to end: told at once by the node's own commits, and by polling of what others committed. */
final class RunEnds {
    private final Map<UUID, Set<CompletableFuture<RunState>>> waiting = new ConcurrentHashMap<>();

    /** Completes with the state in which the run ends from now on; whoever gives up cancels it. */
    CompletableFuture<RunState> next(UUID run) {
        CompletableFuture<RunState> end = new CompletableFuture<>();
        waiting.compute(run, (id, others) -> {
            Set<CompletableFuture<RunState>> all = others == null ? ConcurrentHashMap.newKeySet(1) : others;
            all.add(end);
            return all;
        });
        end.whenComplete((state, failure) -> forget(run, end));
        return end;
    }

    private void forget(UUID run, CompletableFuture<RunState> end) {
        waiting.computeIfPresent(run, (id, all) -> {
            all.remove(end);
            return all.isEmpty() ? null : all;
        });
    }

    void ended(UUID run, RunState state) {
        Set<CompletableFuture<RunState>> all = waiting.remove(run);
        if (all != null) {
            all.forEach(end -> end.complete(state));
        }
    }

    /** The runs that somebody waits for. */
    Set<UUID> awaited() {
        return Set.copyOf(waiting.keySet());
    }
}
