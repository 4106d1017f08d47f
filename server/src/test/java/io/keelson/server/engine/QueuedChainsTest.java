package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.server.engine.tool.SlotKind;
import java.nio.file.Path;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Queued runs whose first steps are executed before the commit of their claim. */
@Breadth.Spread
@Timeout(120)
class QueuedChainsTest {
    private static final Duration HOUR = Duration.ofHours(1);
    /** A chain is not claimed before its end. */
    private static final Engine.Chains LATE = new Engine.Chains(true, HOUR, HOUR, HOUR);
    /** A chain is claimed while its first step is executed, and nothing is reported before its end. */
    private static final Engine.Chains EARLY = new Engine.Chains(true, HOUR, HOUR, Duration.ofMillis(1));

    @TempDir
    Path folder;
    private final GateTool gate = new GateTool();
    private Nodes nodes;
    /** It executes nothing, so all runs are queued. */
    private Engine accepting;

    @BeforeEach
    void start() throws Exception {
        nodes = new Nodes(folder, gate);
        accepting = nodes.node(LATE, 0);
    }

    @AfterEach
    void stop() throws Exception {
        gate.open.release(1_000);
        try {
            nodes.assertSound();
        } finally {
            nodes.close();
        }
    }

    private UUID queued(String steps) {
        return nodes.submit(accepting, "name: queued\ngoal: g\nplan: {tasks: [{id: a, steps: [" + steps + "]}]}\n");
    }

    /** A node that has claimed work: its first claims precede the executions. */
    private Engine node(Engine.Chains chains, int slots) throws Exception {
        Engine engine = nodes.node(chains, slots);
        nodes.awaitState(queued("{tool: noop}"), "completed");
        return engine;
    }

    private void sql(String statement) {
        nodes.database.runInTransaction(c -> {
            try (Statement made = c.createStatement()) {
                made.execute(statement);
            }
        });
    }

    /** Of the run, its creation included. */
    private long commits(UUID run) {
        return nodes.count("select count(*) from run_event_packs where run_id = '" + run + "'");
    }

    private String states(UUID run) {
        return nodes
                .text("select r.state || ': ' || string_agg(s.state, ' ' order by s.position) from orchestration_runs r"
                        + " join orchestration_steps s on s.run_id = r.id where r.id = '" + run + "' group by r.id");
    }

    private long leases(UUID run) {
        return nodes.count("select count(*) from work_queue where holder is not null and run_id = '" + run + "'");
    }

    @Test
    void chainIsClaimedAndReportedInOneCommit() throws Exception {
        node(LATE, 8);
        List<UUID> runs = IntStream.range(0, 20)
                .mapToObj(_ -> queued("{name: one, tool: noop, input: {output: {b: 1, a: 2}}}, "
                        + "{name: two, tool: echo, input: {said: \"${ .steps.one.output }\"}}"))
                .toList();
        for (UUID run : runs) {
            nodes.awaitState(run, "completed");
            assertThat(commits(run)).isEqualTo(2);
            assertThat(nodes.count("select count(*) from work_queue where run_id = '" + run + "'")).isZero();
            assertThat(nodes.count("select max(lease_epoch) from orchestration_steps where run_id = '" + run + "'"))
                    .isEqualTo(1);
        }
    }

    @Test
    void slowStepIsClaimedWhileItIsExecuted() throws Exception {
        Engine engine = node(EARLY, 8);
        UUID run = queued("{name: one, tool: test.gate}, {name: two, tool: noop}");
        gate.awaitEntered(1);
        Awaitility.await().untilAsserted(() -> assertThat(states(run)).isEqualTo("running: running pending"));
        assertThat(leases(run)).isEqualTo(1);
        engine.upkeep().keepLeases();
        gate.open.release();
        nodes.awaitState(run, "completed");
        assertThat(commits(run)).isEqualTo(3);
        assertThat(gate.entered.availablePermits()).isZero();
    }

    /** The claim is committed with the report of the first step, while the second one is at work. */
    @Test
    void stepThatOutlastsTheClaimHasALease() throws Exception {
        Engine engine = node(new Engine.Chains(true, Duration.ofMillis(1), HOUR), 8);
        UUID run = queued("{name: one, tool: noop}, {name: two, tool: test.gate}");
        gate.awaitEntered(1);
        Awaitility.await().untilAsserted(() -> assertThat(states(run)).isEqualTo("running: completed running"));
        assertThat(leases(run)).isEqualTo(1);
        engine.upkeep().keepLeases();
        gate.open.release();
        nodes.awaitState(run, "completed");
        assertThat(gate.interrupted.getCount()).isEqualTo(1);
    }

    /** Both have executed the step. The first claim of the second node precedes its execution. */
    @Test
    void claimOfWorkThatAnotherNodeHasClaimedIsRefused() throws Exception {
        Engine one = node(LATE, 8);
        UUID run = queued("{name: one, tool: test.gate}, {name: two, tool: noop}");
        gate.awaitEntered(1);
        assertThat(states(run)).isEqualTo("pending: pending pending");
        Engine two = nodes.node(LATE, 8);
        gate.awaitEntered(1);
        assertThat(states(run)).isEqualTo("running: running pending");
        gate.open.release(2);
        nodes.awaitState(run, "completed");
        Awaitility.await().until(() -> one.busy(SlotKind.COMPUTING) + two.busy(SlotKind.COMPUTING) == 0);
        assertThat(commits(run)).isEqualTo(3);
        assertThat(nodes.count("select count(*) from work_results where run_id = '" + run + "'")).isEqualTo(2);
        nodes.awaitState(queued("{name: one, tool: noop}"), "completed");
    }

    /** Its node does not repeat the search meanwhile, and has a slot for other work. */
    @Test
    void workUnderWayIsNotFoundAgain() throws Exception {
        node(LATE, 2);
        UUID slow = queued("{name: one, tool: test.gate}");
        gate.awaitEntered(1);
        for (int i = 0; i < 5; i++) {
            nodes.awaitState(queued("{name: one, tool: noop}"), "completed");
        }
        assertThat(gate.entered.availablePermits()).isZero();
        assertThat(states(slow)).isEqualTo("pending: pending");
        gate.open.release();
        nodes.awaitState(slow, "completed");
    }

    @Test
    void pausedRunDropsWhatWasExecuted() throws Exception {
        Engine engine = node(LATE, 8);
        UUID run = queued("{name: one, tool: test.gate}");
        gate.awaitEntered(1);
        assertThat(accepting.submit(new Command.Pause(run, null, Nodes.WHO)).join())
                .isEqualTo(Reply.CHANGED);
        gate.open.release();
        Awaitility.await().until(() -> engine.busy(SlotKind.COMPUTING) == 0);
        assertThat(states(run)).isEqualTo("paused: pending");
        assertThat(accepting.submit(new Command.Resume(run, Nodes.WHO)).join())
                .isEqualTo(Reply.CHANGED);
        gate.open.release();
        nodes.awaitState(run, "completed");
    }

    @Test
    void nodeThatStopsLeavesTheWorkToOthers() throws Exception {
        Engine engine = node(LATE, 8);
        UUID run = queued("{name: one, tool: noop}, {name: two, tool: test.gate}");
        gate.awaitEntered(1);
        engine.close();
        assertThat(leases(run)).isZero();
        gate.open.release();
        node(LATE, 8);
        nodes.awaitState(run, "completed");
    }

    /** The commit refuses the report of a chain whose first step another node has recorded: the other steps read an unrecorded output. */
    @Test
    void stepsBehindAStepOfAnotherNodeAreExecutedAgain() throws Exception {
        node(LATE, 8);
        UUID run = queued("{name: one, tool: noop, input: {output: own}}, "
                + "{name: two, tool: echo, input: {said: \"${ .steps.one.output }\"}}, {name: three, tool: test.gate}");
        gate.awaitEntered(1);
        UUID task = id("tasks", run, "true");
        UUID one = id("steps", run, "name = 'one'");
        Actor other = Actor.agent("other");
        assertThat(accepting.submit(new Command.Claim(run, task, 0, "other", HOUR, other)).join())
                .isInstanceOf(Reply.Claimed.class);
        assertThat(accepting.submit(new Command.Complete(run, one, 1, Result.of("\"other\""), null, other)).join())
                .isEqualTo(Reply.CHANGED);
        gate.open.release(2);
        nodes.awaitState(run, "completed");
        assertThat(nodes.text("select output ->> 'said' from orchestration_steps where name = 'two' and run_id = '"
                + run + "'")).isEqualTo("other");
    }

    private UUID id(String rows, UUID run, String condition) {
        return UUID.fromString(nodes.text("select id from orchestration_" + rows + " where run_id = '" + run
                + "' and " + condition));
    }

    /** A constraint of the database refuses the report: the lane is claimed without it, and its steps are executed again. */
    @Test
    void refusedReportDoesNotRefuseTheClaim() throws Exception {
        sql("alter table task_steps add constraint none_passed check (output is distinct from '\"passed\"')");
        node(LATE, 8);
        UUID run = queued("{name: one, tool: noop}, {name: two, tool: test.gate}");
        gate.open.release(2);
        Awaitility.await().untilAsserted(() -> assertThat(states(run)).isEqualTo("running: completed running"));
        sql("alter table task_steps drop constraint none_passed");
    }
}
