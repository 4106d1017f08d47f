package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.Breadth;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.server.TestCredits;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.store.KeyUse;
import io.keelson.server.engine.tool.SlotKind;
import java.nio.file.Path;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** New runs whose first steps are executed before their first commit. */
@Breadth.Spread
@Timeout(120)
class NewRunsTest {
    private static final Duration HOUR = Duration.ofHours(1);
    /** A new run is not created before its chain ends. */
    private static final Engine.Chains LATE = new Engine.Chains(true, HOUR, HOUR, HOUR);
    /** A new run is created while its first step is executed, and nothing is reported before the end of the chain. */
    private static final Engine.Chains EARLY = new Engine.Chains(true, HOUR, HOUR, Duration.ofMillis(1));

    @TempDir
    Path folder;
    private final GateTool gate = new GateTool();
    private Nodes nodes;

    @BeforeEach
    void start() throws Exception {
        nodes = new Nodes(folder, gate);
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

    private static String mission(String steps) {
        return "name: new\ngoal: g\nplan: {tasks: [{id: a, steps: [" + steps + "]}]}\n";
    }

    /** An engine that has looked for queued work: until then, it begins no new work past the queue. */
    private Engine node(Engine.Chains chains, int slots) throws Exception {
        return ready(nodes, nodes.node(chains, slots));
    }

    private static Engine ready(Nodes nodes, Engine engine) {
        Awaitility.await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(20))
                .until(() -> nodes.state(nodes.submit(engine, mission("{tool: noop}"))).equals("completed"));
        return engine;
    }

    private void sql(String statement) {
        nodes.database.runInTransaction(c -> {
            try (Statement made = c.createStatement()) {
                made.execute(statement);
            }
        });
    }

    private CompletableFuture<Reply> submit(Engine engine, NewRun run) {
        return engine.submit(new Command.Create(run, true, Nodes.WHO));
    }

    /** The number of commits that wrote the run; each of them has events. */
    private long commits(UUID run) {
        return rows("run_event_packs", run);
    }

    private long rows(String table, UUID run) {
        return nodes.count("select count(*) from " + table + " where run_id = '" + run + "'");
    }

    private String states(UUID run) {
        return nodes
                .text("select r.state || ': ' || string_agg(s.state, ' ' order by s.position) from orchestration_runs r"
                        + " join orchestration_steps s on s.run_id = r.id where r.id = '" + run + "' group by r.id");
    }

    @Test
    void runOfOneChainIsWrittenOnce() throws Exception {
        UUID run = nodes.submit(node(LATE, 1), mission("{name: one, tool: noop, input: {output: {b: 1, a: 2}}}, "
                + "{name: two, tool: echo, input: {said: \"${ .steps.one.output }\"}}, {name: three, tool: noop}"));
        assertThat(states(run)).isEqualTo("completed: completed completed completed");
        assertThat(commits(run)).isEqualTo(1);
        assertThat(rows("work_results", run)).isEqualTo(3);
        assertThat(rows("work_queue", run) + rows("timers", run)).isZero();
        assertThat(nodes.text("select output from orchestration_steps where name = 'two' and run_id = '" + run + "'"))
                .isEqualTo("{\"said\": {\"a\": 2, \"b\": 1}}");
    }

    @Test
    void runOfOneStepIsWrittenOnce() throws Exception {
        Engine engine = node(LATE, 1);
        for (int i = 0; i < 3; i++) {
            UUID run = nodes.submit(engine, mission("{name: one, tool: noop}"));
            assertThat(states(run)).isEqualTo("completed: completed");
            assertThat(commits(run)).isEqualTo(1);
        }
    }

    @Test
    void failureIsWrittenWithTheCreation() throws Exception {
        UUID run = nodes.submit(node(LATE, 8), mission("{name: one, tool: noop}, "
                + "{name: two, tool: fail, input: {class: permanent}}, {name: three, tool: noop}"));
        assertThat(states(run)).isEqualTo("failed: completed failed cancelled");
        assertThat(commits(run)).isEqualTo(1);
    }

    /** The step with an effect begins with the commit that creates the run. */
    @Test
    void chainOfANewRunEndsBeforeAnEffect() throws Exception {
        UUID run = nodes.submit(node(LATE, 8), mission("{name: one, tool: noop}, "
                + "{name: two, tool: artifact.write, input: {name: a.txt, content: x}}"));
        nodes.awaitState(run, "completed");
        assertThat(commits(run)).isEqualTo(2);
    }

    @Test
    void slowStepDoesNotHoldTheCallerBack() throws Exception {
        UUID run = nodes.submit(node(EARLY, 8), mission("{name: one, tool: test.gate}, {name: two, tool: noop}"));
        gate.awaitEntered(1);
        assertThat(states(run)).isEqualTo("running: running pending");
        gate.open.release();
        nodes.awaitState(run, "completed");
        assertThat(commits(run)).isEqualTo(2);
        assertThat(gate.entered.availablePermits()).isZero();
    }

    /** The creation is committed with the report of the first step, while the second one is at work. */
    @Test
    void stepThatOutlastsTheFirstCommitHasALease() throws Exception {
        Engine engine = node(new Engine.Chains(true, Duration.ofMillis(1), HOUR), 8);
        UUID run = nodes.submit(engine, mission("{name: one, tool: noop}, {name: two, tool: test.gate}"));
        gate.awaitEntered(1);
        Awaitility.await().untilAsserted(() -> assertThat(states(run)).isEqualTo("running: completed running"));
        assertThat(nodes.count("select count(*) from work_queue where holder is not null and run_id = '" + run + "'"))
                .isEqualTo(1);
        engine.upkeep().keepLeases();
        gate.open.release();
        nodes.awaitState(run, "completed");
        assertThat(gate.interrupted.getCount()).isEqualTo(1);
    }

    @Test
    void valueOfTheDatabaseCreatesTheRunFirst() throws Exception {
        UUID run = nodes.submit(node(LATE, 8), mission("{name: one, tool: noop}, "
                + "{name: two, tool: echo, input: {said: \"${ .run.goal }\"}}, {name: three, tool: noop}"));
        nodes.awaitState(run, "completed");
        assertThat(nodes.text("select output from orchestration_steps where name = 'two' and run_id = '" + run + "'"))
                .isEqualTo("{\"said\": \"g\"}");
        assertThat(commits(run)).isEqualTo(2);
    }

    /** As if the server stopped: there is no run, and no answer. */
    @Test
    void nothingIsVisibleBeforeTheCommit() throws Exception {
        Engine engine = node(LATE, 8);
        NewRun run = nodes.run(mission("{name: one, tool: noop}, {name: two, tool: test.gate}"));
        CompletableFuture<Reply> reply = submit(engine, run);
        gate.awaitEntered(1);
        assertThat(reply).isNotDone();
        assertThat(nodes.count("select count(*) from orchestration_runs where id = '" + run.id() + "'")).isZero();
        engine.upkeep().keepLeases();
        gate.open.release();
        assertThat(reply.join()).isEqualTo(Reply.CHANGED);
        assertThat(commits(run.id())).isEqualTo(1);
    }

    @Test
    void nodeThatStopsCreatesTheRunWithWhatIsDone() throws Exception {
        Engine engine = node(LATE, 8);
        NewRun run = nodes.run(mission("{name: one, tool: noop}, {name: two, tool: test.gate}"));
        CompletableFuture<Reply> reply = submit(engine, run);
        gate.awaitEntered(1);
        engine.close();
        assertThat(reply.join()).isEqualTo(Reply.CHANGED);
        assertThat(
                nodes.text("select state from orchestration_steps where name = 'one' and run_id = '" + run.id() + "'"))
                .isEqualTo("completed");
        gate.open.release();
        node(LATE, 8);
        nodes.awaitState(run.id(), "completed");
    }

    @Test
    void refusedCreationLeavesNothing() throws Exception {
        UUID workspace = UUID.randomUUID();
        sql("insert into workspaces (id, name) values ('" + workspace + "', 'poor')");
        TestCredits.grant(nodes.database, workspace, "0.5");
        Engine engine = node(LATE, 1);
        NewRun run = nodes.run(
                mission("{name: one, tool: test.gate}").replace("plan: {", "plan: {total_estimated_cost: 1, "),
                workspace);
        CompletableFuture<Reply> reply = submit(engine, run);
        gate.awaitEntered(1);
        gate.open.release();
        assertThat(reply.join()).isInstanceOf(Reply.Rejected.class);
        assertThat(nodes.count("select count(*) from orchestration_runs where id = '" + run.id() + "'")).isZero();
        Awaitility.await().until(() -> engine.busy(SlotKind.COMPUTING) == 0);
    }

    @Test
    void usedKeyCreatesNoSecondRun() throws Exception {
        Engine engine = node(LATE, 8);
        long before = nodes.count("select count(*) from orchestration_runs");
        for (int i = 0; i < 2; i++) {
            NewRun run = nodes.run(mission("{name: one, tool: noop}"));
            KeyUse key = new KeyUse(new KeyUse.Id(Nodes.WORKSPACE, "POST /runs", "k"), "h", run.id());
            CompletableFuture<Reply> reply = engine.submit(new Command.Create(run, true, Nodes.WHO), key);
            if (i == 0) {
                assertThat(reply.join()).isEqualTo(Reply.CHANGED);
            } else {
                assertThatThrownBy(reply::join).hasCauseInstanceOf(Commands.KeyUsed.class);
            }
        }
        assertThat(nodes.count("select count(*) from orchestration_runs")).isEqualTo(before + 1);
    }

    /** A constraint of the database refuses the report: the run is created without it, and its steps are executed again. */
    @Test
    @Breadth.InPart(5) // a minute, in which a lease ends
    void refusedReportDoesNotRefuseTheRun() throws Exception {
        sql("alter table task_steps add constraint none_passed check (output is distinct from '\"passed\"')");
        UUID run = nodes.submit(node(LATE, 8), mission("{name: one, tool: noop}, {name: two, tool: test.gate}"));
        gate.open.release(2);
        Awaitility.await().untilAsserted(() -> assertThat(states(run)).isEqualTo("running: completed running"));
        sql("alter table task_steps drop constraint none_passed");
    }

    /** Without a free slot the run waits in the queue, as ever. */
    @Test
    void withoutAFreeSlotTheRunIsQueued() throws Exception {
        Engine engine = node(EARLY, 1);
        UUID first = nodes.submit(engine, mission("{name: one, tool: test.gate}"));
        gate.awaitEntered(1);
        List<UUID> others = List.of(nodes.submit(engine, mission("{name: one, tool: noop}")),
                nodes.submit(engine, mission("{name: one, tool: noop}")));
        assertThat(others).allSatisfy(run -> assertThat(states(run)).isEqualTo("pending: pending"));
        gate.open.release();
        nodes.awaitState(first, "completed");
        others.forEach(run -> nodes.awaitState(run, "completed"));
    }
}
