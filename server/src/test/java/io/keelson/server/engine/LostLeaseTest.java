package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node stops a step as soon as it has lost the step's lease. */
class LostLeaseTest {
    private static final String MISSION = """
            name: gated
            plan: {tasks: [{id: a, steps: [{tool: test.gate, timeout_seconds: 3600}, {tool: noop}]}]}
            """;
    /** Without a notification, the node would notice after a third of it. */
    private static final Duration LONG = Duration.ofMinutes(30);

    private final GateTool gate = new GateTool();

    @TempDir
    Path folder;

    @Test
    void cancelByAnotherNodeStopsTheStepAtOnce() throws Exception {
        try (Nodes nodes = new Nodes(folder, gate)) {
            Engine one = nodes.node(LONG);
            Engine other = nodes.node(LONG);
            keepLeases(one);
            UUID run = nodes.submit(one, MISSION);
            gate.awaitEntered(1);
            assertThat(other.submit(new Command.Cancel(run, null, Nodes.WHO)).join()).isEqualTo(Reply.CHANGED);
            assertThat(gate.interrupted.await(60, TimeUnit.SECONDS)).isTrue();
            nodes.awaitState(run, "cancelled");
            nodes.assertSound();
        }
    }

    @Test
    void heartbeatStopsLostStepsOnly() throws Exception {
        try (Nodes nodes = new Nodes(folder, gate)) {
            Engine node = nodes.node(LONG);
            UUID kept = nodes.submit(node, MISSION);
            UUID lost = nodes.submit(node, MISSION);
            gate.awaitEntered(2);
            nodes.text("update work_queue set holder = 'node:other' where run_id = '" + lost + "' returning holder");
            keepLeases(node);
            assertThat(gate.interrupted.await(60, TimeUnit.SECONDS)).isTrue();
            gate.open.release(2);
            nodes.awaitState(kept, "completed");
            assertThat(nodes.state(lost)).isEqualTo("running");
            assertThat(nodes.count("select count(*) from work_results where run_id = '" + lost + "'")).isZero();
        }
    }

    private static void keepLeases(Engine engine) {
        engine.upkeep().keepLeases();
    }
}
