package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.server.engine.commit.Commands;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where a node has slots to spare, a run starts in the transaction that makes it, without a way through the queue. */
class SpareSlotsTest {
    private static final int BURST = 100;
    private static final int CALLERS = 16;
    private static final int RUNS_EACH = 20;
    private static final String MISSION = """
            name: %s
            goal: g
            plan: {tasks: [{id: a, steps: [{tool: %s}, {tool: noop}, {tool: noop}]}]}
            """;
    /** Runs whose first step began in another transaction than they did. */
    private static final String QUEUED = """
            select count(*) from orchestration_runs r
              join orchestration_events made on made.run_id = r.id and made.seq = 1
              join lateral (select xid from orchestration_events where run_id = r.id and event_type = 'step_started'
                             order by seq limit 1) began on true
             where r.title = '%s' and began.xid <> made.xid""";

    @Test
    void spareSlotIsFoundOnceTheQueueIsEmpty(@TempDir Path folder) throws Exception {
        GateTool gate = new GateTool();
        try (Nodes nodes = new Nodes(folder, gate)) {
            Engine engine = nodes.node();
            burst(nodes, engine, gate);
            callers(nodes, engine);
            assertThat(nodes.count(QUEUED.formatted("burst"))).isPositive();
            // While the last of the queue is looked for, a caller's first run may still have to queue.
            assertThat(nodes.count(QUEUED.formatted("spare"))).isLessThanOrEqualTo(CALLERS);
            nodes.assertSound();
        }
    }

    /** More runs at once than there are slots. */
    private static void burst(Nodes nodes, Engine engine, GateTool gate) {
        List<CompletableFuture<RunState>> ends = new ArrayList<>();
        for (int i = 0; i < BURST; i++) {
            ends.add(begin(nodes, engine, "burst", "test.gate"));
        }
        Awaitility.await().until(() -> nodes.count("select count(*) from work_queue") == BURST);
        gate.open.release(BURST);
        ends.forEach(CompletableFuture::join);
    }

    /** As many as a quarter of the slots, one after the other each. */
    private static void callers(Nodes nodes, Engine engine) throws Exception {
        try (ExecutorService callers = Executors.newFixedThreadPool(CALLERS)) {
            List<Future<?>> all = new ArrayList<>();
            for (int caller = 0; caller < CALLERS; caller++) {
                all.add(callers.submit(() -> {
                    for (int i = 0; i < RUNS_EACH; i++) {
                        begin(nodes, engine, "spare", "noop").join();
                    }
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
        }
    }

    private static CompletableFuture<RunState> begin(Nodes nodes, Engine engine, String name, String tool) {
        NewRun run = nodes.run(MISSION.formatted(name, tool));
        CompletableFuture<RunState> end = engine.ended(run.id()).thenApply(Commands.RunEnd::state);
        engine.submit(new Command.Create(run, true, Nodes.WHO))
                .thenAccept(reply -> assertThat(reply).isEqualTo(Reply.CHANGED));
        return end;
    }
}
