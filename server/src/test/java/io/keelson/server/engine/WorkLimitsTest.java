package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.worker.Completion;
import io.keelson.api.worker.WorkItem;
import io.keelson.core.Breadth;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.server.TestCredits;
import io.keelson.server.base.db.Sql;
import io.keelson.server.engine.dispatch.RemoteDispatch;
import io.keelson.server.engine.dispatch.WorkerClaim;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.JsonNodeFactory;

/** Limits of concurrent work in a workspace, with any number of concurrent claims. */
@Breadth.Spread
class WorkLimitsTest extends GatedEngines {

    /** Knows how many were at work with it at the same time. */
    private static final class Crowd implements Tool {
        final AtomicInteger now = new AtomicInteger();
        final AtomicInteger most = new AtomicInteger();
        final AtomicInteger all = new AtomicInteger();

        @Override
        public ToolSpec spec() {
            var any = JsonNodeFactory.instance.objectNode();
            return new ToolSpec("test.crowd", "Counts", any, any, Duration.ofSeconds(60), false);
        }

        @Override
        public ToolResult execute(ToolCall call) {
            most.accumulateAndGet(now.incrementAndGet(), Math::max);
            all.incrementAndGet();
            now.decrementAndGet();
            return ToolResult.of(JsonNodeFactory.instance.stringNode("counted"));
        }
    }

    private final Crowd crowd = new Crowd();

    @Override
    Nodes open(Path folder) throws Exception {
        return new Nodes(folder, gate, crowd);
    }

    @Test
    void twoNodesTogetherKeepToTheLimit() throws Exception {
        limit("steps", 3);
        List<Engine> engines = List.of(nodes.node(), nodes.node());
        List<UUID> runs = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            runs.add(nodes.submit(engines.get(i % 2), """
                    {name: crowd, goal: g, plan: {tasks: [{id: a, steps: [{tool: test.crowd}]}]}}"""));
        }

        runs.forEach(run -> nodes.awaitState(run, "completed"));

        assertThat(crowd.all).hasValue(40);
        assertThat(crowd.most.get()).isBetween(1, 3);
    }

    @Test
    void endedWorkFreesCapacityAtOnce() throws Exception {
        limit("steps", 2);
        Engine engine = nodes.node();
        List<UUID> runs = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            runs.add(nodes.submit(engine, """
                    {name: gated, goal: g, plan: {tasks: [{id: a, steps: [{tool: test.gate}]}]}}"""));
        }
        gate.awaitEntered(2);
        for (int i = 0; i < 3; i++) {
            assertThat(atWork()).isEqualTo(2);
            gate.open.release();
            gate.awaitEntered(1);
        }
        gate.open.release(2);
        runs.forEach(run -> nodes.awaitState(run, "completed"));
    }

    @Test
    void aToolsLimitHoldsWithinATaskToo() throws Exception {
        limit("tool:test.gate", 1);
        Engine engine = nodes.node();
        List<UUID> runs = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            runs.add(nodes.submit(engine, """
                    name: gated
                    goal: g
                    plan: {tasks: [{id: a, steps: [{tool: echo}, {tool: test.gate}, {tool: echo}]}]}"""));
        }
        for (int i = 0; i < 3; i++) {
            gate.awaitEntered(1);
            assertThat(nodes.count("select count(*) from work_queue where holder is not null and tool = 'test.gate'"))
                    .isEqualTo(1);
            gate.open.release();
        }
        runs.forEach(run -> nodes.awaitState(run, "completed"));
    }

    /** The limit counts all tools. Work of lower priority passes work above its limit. */
    @Test
    void aModelsLimitHoldsOverItsToolsAndHoldsUpNothingElse() throws Exception {
        limit("model:large", 1);
        Engine engine = nodes.node();
        List<UUID> large = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            large.add(nodes.submit(engine, """
                    name: gated
                    goal: g
                    priority: 1
                    plan:
                      tasks:
                        - {id: a, steps: [{tool: echo, input: {x: 1}}, {tool: test.gate, input: {model: large}}]}"""));
        }
        gate.awaitEntered(1);
        for (String model : List.of("small", "${ .run.name }")) {
            nodes.awaitState(nodes.submit(engine,
                    """
                    {name: other, goal: g, plan: {tasks: [{id: a, steps: [{tool: test.crowd, input: {model: "%s"}}]}]}}"""
                            .formatted(model)),
                    "completed");
        }
        for (int i = 0; i < 3; i++) {
            assertThat(nodes.count("select count(*) from work_queue where holder is not null and model = 'large'"))
                    .isEqualTo(1);
            gate.open.release();
            if (i < 2) {
                gate.awaitEntered(1);
            }
        }
        large.forEach(run -> nodes.awaitState(run, "completed"));
    }

    @Test
    void turnsOfTasksWithASuggestedModelAreItsModels() throws Exception {
        limit("model:large", 1);
        Engine engine = nodes.node();
        for (int i = 0; i < 2; i++) {
            nodes.submit(engine, """
                    name: turns
                    goal: g
                    plan: {tasks: [{id: a, title: Think, suggested_model: large}]}""", "agent.turn");
        }
        WorkerClaim claim =
                new WorkerClaim(Nodes.WORKSPACE, "w", List.of("agent.turn"), 10, Duration.ZERO, null,
                        "test");
        assertThat(engine.remoteWork().claim(claim)).hasSize(1);
        assertThat(engine.remoteWork().claim(claim)).isEmpty();
    }

    @Test
    void workersGetNoMoreThanTheLimit() throws Exception {
        limit("steps", 2);
        Engine engine = nodes.node();
        RemoteDispatch remote = engine.remoteWork();
        for (int i = 0; i < 4; i++) {
            nodes.submit(engine, """
                    {name: far, goal: g, plan: {tasks: [{id: a, steps: [{tool: far.away}]}]}}""", "far.away");
        }

        List<WorkItem> first = claim(remote, "w1");
        assertThat(first).hasSize(2);
        assertThat(claim(remote, "w2")).isEmpty();

        remote.complete(Nodes.WORKSPACE, "w1", List.of(new Completion(first.getFirst().stepId(),
                first.getFirst().leaseEpoch(), 0, null, null, null, null, List.of(), null, List.of(), List.of(),
                List.of())),
                null);
        assertThat(claim(remote, "w2")).hasSize(1);
        assertThat(atWork()).isEqualTo(2);
    }

    @Test
    void aNewWorkspacesLimitHoldsFromItsFirstStep() throws Exception {
        Engine engine = nodes.node();
        UUID fresh = UUID.randomUUID();
        nodes.database.runInTransaction(c -> Sql.of("insert into workspaces (id, name) values (:id, 'fresh')").on(c)
                .set("id", fresh).update());
        TestCredits.grant(nodes.database, fresh);
        limit(fresh, "tool:test.gate", 1);
        for (int i = 0; i < 3; i++) {
            NewRun run =
                    nodes.run("{name: gated, goal: g, plan: {tasks: [{id: a, steps: [{tool: test.gate}]}]}}", fresh);
            assertThat(engine.submit(new Command.Create(run, true, Nodes.WHO)).join()).isEqualTo(Reply.CHANGED);
        }

        gate.awaitEntered(1);
        assertThat(atWork()).isEqualTo(1);
        gate.open.release(3);
        gate.awaitEntered(2);
    }

    @Test
    void removedLimitIsForgotten() throws Exception {
        limit("steps", 0);
        Engine engine = nodes.node();
        UUID run = nodes.submit(engine, """
                {name: crowd, goal: g, plan: {tasks: [{id: a, steps: [{tool: test.crowd}]}]}}""");
        assertThat(atWork()).isZero();

        nodes.database.runInTransaction(c -> {
            try (var delete = c.createStatement()) {
                delete.execute("delete from workspace_limits");
            }
        });
        nodes.awaitState(run, "completed");
    }

    private static List<WorkItem> claim(RemoteDispatch remote, String worker) throws InterruptedException {
        return remote.claim(new WorkerClaim(Nodes.WORKSPACE, worker, List.of("far.away"), 10, Duration.ZERO, null,
                "test"));
    }

    private long atWork() {
        return nodes.count("select count(*) from work_queue where holder is not null");
    }

    private void limit(String name, long most) {
        limit(Nodes.WORKSPACE, name, most);
    }

    private void limit(UUID workspace, String name, long most) {
        nodes.database.runInTransaction(c -> {
            try (var insert = c.prepareStatement("insert into workspace_limits values (?, ?, ?)")) {
                insert.setObject(1, workspace);
                insert.setString(2, name);
                insert.setLong(3, most);
                insert.executeUpdate();
            }
        });
    }
}
