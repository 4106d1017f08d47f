package io.keelson.server.engine.upkeep;

import io.keelson.core.lifecycle.RunState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** Those who wait for runs to end: told at once by the node's own commits, and by polling of what others committed. */
public final class RunEnds {
    private final Map<UUID, List<CompletableFuture<RunState>>> waiting = new ConcurrentHashMap<>();

    /** Completes with the state in which the run ends from now on; whoever gives up cancels it. */
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

    /** The runs that somebody waits for. */
    Set<UUID> awaited() {
        return Set.copyOf(waiting.keySet());
    }
}
