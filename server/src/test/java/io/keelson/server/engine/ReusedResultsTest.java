package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two servers compute one result once, also after a lost lease. */
class ReusedResultsTest {
    private static final String MISSION = """
            name: gated
            plan: {tasks: [{id: a, steps: [{tool: test.gate, cache: {max_age: 1h}}]}]}
            """;

    private final GateTool gate = new GateTool();

    @TempDir
    Path folder;

    @Test
    void runsOfTwoServersComputeOnce() throws Exception {
        try (Nodes nodes = new Nodes(folder, gate)) {
            Engine one = nodes.node();
            Engine other = nodes.node();
            UUID first = nodes.submit(one, MISSION);
            gate.awaitEntered(1);
            UUID second = nodes.submit(other, MISSION);
            awaitWait(nodes, second);
            gate.open.release(2);
            nodes.awaitState(first, "completed");
            nodes.awaitState(second, "completed");
            assertThat(gate.entered.availablePermits()).isZero();
            assertThat(nodes.count("select count(*) from work_results where run_id = '" + second + "'")).isZero();
            assertThat(nodes.count("select count(*) from billing_ledger where run_id = '" + second
                    + "' and transaction_type = 'charge'")).isZero();
            nodes.assertSound();
        }
    }

    /** The timer by which the waiting step asks is an hour away. */
    @Test
    void endOfTheFirstWakesTheOtherAtOnce() throws Exception {
        try (Nodes nodes = new Nodes(folder, gate)) {
            Engine one = nodes.node();
            Engine other = nodes.node();
            UUID first = nodes.submit(one, MISSION);
            gate.awaitEntered(1);
            UUID second = nodes.submit(other, MISSION);
            awaitWait(nodes, second);
            nodes.text("update timers set due_at = due_at + interval '1 hour' where run_id = '" + second
                    + "' and kind = 'evaluate_step' returning kind");
            gate.open.release(2);
            nodes.awaitState(first, "completed");
            nodes.awaitState(second, "completed");
            assertThat(nodes.count("select count(*) from result_waits")).isZero();
            nodes.assertSound();
        }
    }

    @Test
    void lostLeaseOfTheFirstIsComputedByTheNextServer() throws Exception {
        try (Nodes nodes = new Nodes(folder, gate)) {
            Engine one = nodes.node(Duration.ofSeconds(30));
            Engine other = nodes.node(Duration.ofSeconds(30));
            UUID first = nodes.submit(one, MISSION);
            gate.awaitEntered(1);
            UUID second = nodes.submit(other, MISSION);
            awaitWait(nodes, second);
            nodes.text(
                    "update work_queue set lease_expires_at = clock_timestamp() - interval '1 second' where run_id = '"
                            + first + "' returning holder");
            gate.awaitEntered(1);
            gate.open.release(2);
            nodes.awaitState(first, "completed");
            nodes.awaitState(second, "completed");
            assertThat(gate.entered.availablePermits()).isZero();
            assertThat(nodes.count("select count(*) from work_results where run_id = '" + first
                    + "' and outcome = 'completed'")).isOne();
            assertThat(nodes.count("select count(*) from work_results where run_id = '" + second + "'")).isZero();
            nodes.assertSound();
        }
    }

    private static void awaitWait(Nodes nodes, UUID run) {
        Awaitility.await().until(() -> nodes.count("select count(*) from orchestration_events where run_id = '" + run
                + "' and event_type = 'step_result_awaited'") == 1);
    }
}
