package io.keelson.server.annex.mcp.gateway;

import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.engine.store.read.ProgramCallRecords;
import io.keelson.server.engine.store.read.ProgramCallRecords.End;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Waits for ends of calls, which commits of any server may write. While requests wait, one query reads all ends. */
final class CallEnds implements AutoCloseable {
    private static final Duration SHORTEST = Duration.ofMillis(25);
    private static final Duration LONGEST = Duration.ofMillis(250);

    private final ProgramCallRecords records;
    private final Map<UUID, List<CompletableFuture<End>>> waiting = new ConcurrentHashMap<>();
    /** Grows while no call ends, to an eighth of the time since the last begin of a wait. */
    private volatile Duration pause = SHORTEST;
    private final BackgroundTask task = BackgroundTask.paced("gateway-calls", BackgroundTask.ON_NUDGE, this::look);

    CallEnds(ProgramCallRecords records) {
        this.records = records;
    }

    BackgroundTask task() {
        return task;
    }

    /** Completes with the end of the call; the caller cancels it to stop waiting. */
    CompletableFuture<End> of(UUID call) {
        CompletableFuture<End> end = new CompletableFuture<>();
        waiting.computeIfAbsent(call, _ -> new CopyOnWriteArrayList<>()).add(end);
        end.whenComplete((_, _) -> waiting.computeIfPresent(call, (_, all) -> {
            all.removeIf(each -> each == end);
            return all.isEmpty() ? null : all;
        }));
        pause = SHORTEST;
        task.nudge();
        return end;
    }

    private Duration look() {
        Set<UUID> calls = Set.copyOf(waiting.keySet());
        if (calls.isEmpty()) {
            return BackgroundTask.ON_NUDGE;
        }
        List<End> ends = records.ends(calls);
        ends.forEach(end -> List.copyOf(waiting.getOrDefault(end.id(), List.of())).forEach(each -> each.complete(end)));
        Duration grown = pause.multipliedBy(9).dividedBy(8);
        pause = !ends.isEmpty() ? SHORTEST : grown.compareTo(LONGEST) < 0 ? grown : LONGEST;
        return pause;
    }

    @Override
    public void close() throws InterruptedException {
        task.close();
    }
}
