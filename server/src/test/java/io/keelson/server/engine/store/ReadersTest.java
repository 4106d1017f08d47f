package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.RunFixtures.run;
import static io.keelson.server.engine.store.RunFixtures.step;
import static io.keelson.server.engine.store.RunFixtures.task;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.api.work.NodeInfo;
import io.keelson.core.decide.StepRow;
import io.keelson.core.money.Tokens;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.TaskType;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewArtifact;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.TimerKind;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.RunStore.Search;
import io.keelson.server.engine.store.queue.LeaseHeartbeats;
import io.keelson.server.engine.store.queue.WorkerRegistry;
import io.keelson.server.engine.store.read.Detail;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.engine.store.read.RunReader.RunPage;
import io.keelson.server.engine.store.read.RunSelection;
import io.keelson.server.engine.store.read.ScopeReader;
import io.keelson.server.engine.store.read.StepWorkReader;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

/** What clients read: shape, order, pages, and nothing of another workspace. */
class ReadersTest {
    private static final Actor TESTER = Actor.human("tester");
    private static final RunSelection ALL = RunSelection.ALL;

    private static RunSelection filter(String state, String type, List<String> tags) {
        return new RunSelection(state == null ? List.of() : List.of(state), type, tags, null, null, null, null, null,
                null, null, null, null);
    }

    private final World world = new World();
    private final RunReader reader = new RunReader();
    private final WorkerRegistry workers = new WorkerRegistry(() -> world.now);
    private final UUID run = new UUID(3, 3);
    private Connection c;
    private StepRow first;

    /** Task a completed with an artifact, task b waits for an approval. */
    @BeforeEach
    void aRunHalfDone() throws SQLException {
        c = world.connection();
        world.send(new Command.Create(run(run, world.workspace, RunPolicy.DEFAULT, task("a", List.of(), step("one")),
                task("b", List.of("a"), step("ask", StepKind.APPROVAL, "approval"))), true, TESTER));
        world.tick(Duration.ofMillis(1_500));
        first = claim(run);
        world.send(new Command.Complete(run, first.id(), 1,
                new Result("{\"n\":1}", new Tokens(3, 2, 1, 1, 1), new BigDecimal("0.5"),
                        List.of(new NewArtifact("a.txt", "text/plain", 3, "c".repeat(64), "key-1"))),
                Actor.agent("worker")));
        StepRow ask = stepOf("b");
        world.send(new Command.Evaluated(run, TimerKind.EVALUATE_STEP, ask.id(),
                new Command.Evaluation.Opened("{\"question\":\"Publish?\"}", null, null), Actor.SYSTEM));
    }

    @AfterEach
    void close() throws SQLException {
        world.close();
    }

    @Test
    void aRunHasTheMembersThatClientsRelyOn() throws SQLException {
        ObjectNode doc = reader.run(c, world.workspace, run).orElseThrow();
        assertThat(doc.propertyNames()).contains("id", "workspace_id", "name", "goal", "state", "state_type",
                "priority",
                "trigger", "plan", "config", "inputs", "tags", "attempt_number", "max_attempts", "task_count",
                "tasks_completed", "tasks_failed", "steps_total", "steps_completed", "agent_count", "credits_reserved",
                "credits_charged", "credits_refunded", "total_tokens", "total_cost", "result_summary", "output",
                "error_code", "error_message", "created_at", "started_at", "completed_at", "duration_ms",
                "last_heartbeat_at", "version_id", "status");
        assertThat(doc.get("state").asString()).isEqualTo("running");
        assertThat(doc.get("created_at").asString()).isEqualTo("2026-01-01T00:00:00.000Z");
        assertThat(doc.get("total_cost").decimalValue()).isEqualByComparingTo("0.5");
        assertThat(doc.get("inputs").get("word").asString()).isEqualTo("hello");
        assertThat(doc.get("completed_at").isNull()).isTrue();
    }

    /** Invariant 7 of the handoff: a time beside {@code running} is that of a holder, however long a run waits for a person. */
    @Test
    void aRunHasAHeartbeatWhileAStepOfItIsLeased() throws SQLException {
        world.tick(Duration.ofDays(3));
        assertThat(reader.run(c, world.workspace, run).orElseThrow().get("last_heartbeat_at").isNull()).isTrue();
        UUID other = new UUID(7, 7);
        world.send(new Command.Create(run(other, world.workspace, RunPolicy.DEFAULT, task("a", List.of(), step("one")),
                task("b", List.of(), step("ask", StepKind.APPROVAL, "approval"))), true, TESTER));
        StepRow held = claim(other);
        world.tick(Duration.ofSeconds(2));
        assertThat(reader.run(c, world.workspace, other).orElseThrow().get("last_heartbeat_at").asString())
                .isEqualTo("2026-01-04T00:00:01.500Z");
        world.send(new Command.Complete(other, held.id(), 1, Result.of("1"), Actor.agent("worker")));
        ObjectNode waits = reader.run(c, world.workspace, other).orElseThrow();
        assertThat(waits.get("state").asString()).isEqualTo("running");
        assertThat(waits.get("last_heartbeat_at").isNull()).isTrue();
    }

    @Test
    void tasksAndStepsInPlanOrder() throws SQLException {
        List<ObjectNode> tasks = reader.tasks(c, world.workspace, run, Detail.WHOLE, null, false, null, 100).items();
        assertThat(tasks).extracting(t -> t.get("key").asString()).containsExactly("a", "b");
        assertThat(tasks.get(0).get("output")).hasToString("{\"n\":1}");
        assertThat(tasks.get(0).get("duration_ms").asInt()).isZero();
        assertThat(tasks.get(1).get("depends_on")).hasToString("[\"a\"]");
        assertThat(tasks.get(1).get("output").isNull()).isTrue();
        assertThat(reader.task(c, world.workspace, first.task().id())).contains(whole(tasks.get(0)));

        List<ObjectNode> steps = reader.steps(c, world.workspace, run, Detail.WHOLE, 1, false, null, 100).items();
        assertThat(steps).extracting(s -> s.get("name").asString()).containsExactly("one", "ask");
        assertThat(steps.get(0).propertyNames()).contains("id", "task_id", "name", "kind", "tool", "position", "state",
                "attempt", "max_attempts", "lease_epoch", "input", "output", "error_code", "error_message",
                "error_class", "tokens", "cost", "next_run_at", "started_at", "completed_at");
        assertThat(steps.get(0).get("max_attempts").asInt()).isEqualTo(3);
        assertThat(steps.get(1).get("input")).hasToString("{\"question\":\"Publish?\"}");
        assertThat(reader.steps(c, world.workspace, run, Detail.WHOLE, 2, false, null, 100).items()).isEmpty();
    }

    /** The same row read alone: only a list says what it left out. It left out nothing here. */
    private static ObjectNode whole(ObjectNode listed) {
        assertThat(listed.get("omitted")).hasToString("[]");
        return listed.deepCopy().without("omitted");
    }

    @Test
    void eventsArtifactsAttemptsAndAgents() throws SQLException {
        List<ObjectNode> events = reader.events(c, world.workspace, run, 0, 1_000).items();
        assertThat(events).extracting(e -> e.get("seq").asInt())
                .isEqualTo(IntStream.rangeClosed(1, events.size()).boxed().toList());
        assertThat(events.get(1).get("payload"))
                .hasToString("{\"to\":\"pending\",\"from\":\"created\",\"credits_reserved\":\"1.000000\"}");
        assertThat(events.getFirst().get("actor_id").asString()).isEqualTo("tester");
        assertThat(reader.events(c, world.workspace, run, 5, 2).items()).extracting(e -> e.get("seq").asInt())
                .containsExactly(6, 7);
        ObjectNode artifact = reader.artifacts(c, world.workspace, run).getFirst();
        assertThat(artifact.get("task_id").asString()).isEqualTo(first.task().id().toString());
        assertThat(reader.artifact(c, world.workspace, run, UUID.fromString(artifact.get("id").asString())))
                .hasValueSatisfying(file -> assertThat(file.storageKey()).isEqualTo("key-1"));
        assertThat(reader.attempts(c, world.workspace, run)).singleElement()
                .satisfies(a -> assertThat(a.get("state").asString()).isEqualTo("running"));
        assertThat(reader.agents(c, world.workspace, run)).singleElement()
                .satisfies(a -> assertThat(a.get("number").asInt()).isEqualTo(1));
    }

    @Test
    void statusNamesTheStepWithTheLatestEvent() throws SQLException {
        ObjectNode status = reader.status(c, world.workspace, run).orElseThrow();
        assertThat(status.get("current_step").asString()).isEqualTo("ask");
        assertThat(status.get("steps_completed").asInt()).isEqualTo(1);
        assertThat(status.get("finished_at").isNull()).isTrue();
    }

    @Test
    void pagesOfRunsNewestFirstWithoutGapOrDuplicate() throws SQLException {
        for (int i = 0; i < 6; i++) {
            world.tick(Duration.ofMillis(i % 2));
            world.send(new Command.Create(run(new UUID(4, i), world.workspace, RunPolicy.DEFAULT), false, TESTER));
        }
        List<String> seen = new ArrayList<>();
        String cursor = null;
        do {
            RunPage page = reader.runs(c, world.workspace, ALL, cursor, 3);
            page.items().forEach(item -> seen.add(item.get("id").asString()));
            cursor = page.nextCursor();
        } while (cursor != null);
        assertThat(seen).doesNotHaveDuplicates().hasSize(7).endsWith(run.toString());
        assertThat(seen.getFirst()).isEqualTo(new UUID(4, 5).toString());

        assertThat(reader.runs(c, world.workspace, filter("running", null, List.of()), null, 9).items())
                .hasSize(1);
        assertThat(reader.runs(c, world.workspace, filter(null, "pending", List.of()), null, 9).items())
                .hasSize(6);
        assertThat(reader.runs(c, world.workspace, filter(null, null, List.of("nightly")), null, 9).items())
                .hasSize(7);
        assertThat(reader.runs(c, world.workspace, filter(null, null, List.of("daily")), null, 9).items())
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "%%%", "abc", "MjAyNi0wMS0wMS8x"})
    void foreignCursorIsRefused(String cursor) {
        assertThatThrownBy(() -> reader.runs(c, world.workspace, ALL, cursor, 3))
                .isInstanceOf(RunReader.BadCursorException.class);
    }

    @Test
    void anotherWorkspaceSeesNothing() throws SQLException {
        UUID other = RunFixtures.workspace(world.database);
        UUID artifact = UUID.fromString(reader.artifacts(c, world.workspace, run).getFirst().get("id").asString());
        assertThat(reader.run(c, other, run)).isEmpty();
        assertThat(reader.runs(c, other, ALL, null, 9).items()).isEmpty();
        assertThat(reader.status(c, other, run)).isEmpty();
        assertThat(reader.tasks(c, other, run, Detail.WHOLE, null, false, null, 100).items()).isEmpty();
        assertThat(reader.task(c, other, first.task().id())).isEmpty();
        assertThat(reader.steps(c, other, run, Detail.WHOLE, null, false, null, 100).items()).isEmpty();
        assertThat(reader.step(c, other, first.id())).isEmpty();
        assertThat(reader.events(c, other, run, 0, 9).items()).isEmpty();
        assertThat(reader.attempts(c, other, run)).isEmpty();
        assertThat(reader.agents(c, other, run)).isEmpty();
        assertThat(reader.artifacts(c, other, run)).isEmpty();
        assertThat(reader.artifact(c, other, run, artifact)).isEmpty();
        assertThat(reader.logs(c, other, first.id(), 0, 9).items()).isEmpty();
        assertThat(new StepWorkReader().ownersOf(c, other, List.of(first.id()))).isEmpty();
        assertThat(new StepWorkReader().ownersOf(c, world.workspace, List.of(first.id())))
                .containsEntry(first.id(),
                        new StepWorkReader.Owner(run, first.task().id(), "{\"say\": \"${ .inputs.word }\"}"));
    }

    @Test
    void workersNodesAndLogs() throws SQLException {
        assertThat(workers.seen(c, world.workspace, "w1", List.of("echo"), null, 4, "1.0")).isFalse();
        assertThat(workers.drain(c, world.workspace, "w1")).isTrue();
        assertThat(workers.drain(c, world.workspace, "w2")).isFalse();
        world.tick(Duration.ofSeconds(3));
        assertThat(workers.seen(c, world.workspace, "w1", List.of("echo", "own"), null, 2, null)).isTrue();
        assertThat(reader.workers(c, world.workspace)).singleElement().satisfies(worker -> {
            assertThat(worker.tools()).containsExactly("echo", "own");
            assertThat(worker.version()).as("of the latest claim").isNull();
            assertThat(Json.time(worker.lastSeenAt())).isEqualTo(Json.time(world.now));
        });

        workers.seen(c, world.workspace, "w1", List.of("own"), null, 2, null);
        assertThat(workers.served(c, world.workspace)).as("a claim for some of them").contains("echo", "own");
        world.tick(Duration.ofSeconds(61));
        workers.seen(c, world.workspace, "w1", List.of("own"), null, 2, null);
        assertThat(workers.served(c, world.workspace)).as("after it was away").contains("own").doesNotContain("echo");

        Duration silence = Duration.ofSeconds(15);
        assertThat(workers.heartbeat(c, "n1", "0.1", silence)).as("alone").isFalse();
        world.tick(Duration.ofSeconds(20));
        assertThat(workers.heartbeat(c, "n2", "0.1", silence)).as("the other one is silent").isFalse();
        assertThat(workers.heartbeat(c, "n2", "0.1", Duration.ofSeconds(20))).as("but not for longer").isTrue();
        assertThat(workers.nodes(c, Duration.ofSeconds(10))).extracting(NodeInfo::id).containsExactly("n2");
        workers.deregister(c, "n2");
        assertThat(workers.heartbeat(c, "n1", "0.1", silence)).as("it has left").isFalse();
        assertThat(workers.nodes(c, Duration.ofSeconds(30))).extracting(NodeInfo::id).containsExactly("n1");
        workers.heartbeat(c, "n2", "0.1", silence);
        assertThat(workers.nodes(c, Duration.ofSeconds(10))).as("it is back").extracting(NodeInfo::id)
                .containsExactly("n1", "n2");

        new LeaseHeartbeats(() -> world.now).log(c,
                List.of(new LeaseHeartbeats.Log(first.id(), 1, 0, List.of("x", "y"))));
        assertThat(reader.logs(c, world.workspace, first.id(), 1_000_001, 9).items()).singleElement()
                .satisfies(line -> assertThat(line.get("message").asString()).isEqualTo("y"));
        c.commit();
    }

    @Test
    void aScopeHoldsWhatIsNamed() throws SQLException {
        ScopeReader scopes = new ScopeReader();
        UUID taskB = stepOf("b").task().id();
        ObjectNode named = scopes.scope(c, run, taskB, wanted(List.of("a"), false, List.of("ask"), false));
        assertThat(named.get("inputs")).hasToString("{\"word\":\"hello\"}");
        assertThat(named.get("run").get("id").asString()).isEqualTo(run.toString());
        assertThat(named.get("tasks")).hasToString("{\"a\":{\"state\":\"completed\",\"output\":{\"n\":1}}}");
        assertThat(named.get("steps")).hasToString("{\"ask\":{\"state\":\"waiting_approval\",\"output\":null}}");
        assertThat(named.has("item")).isFalse();

        ObjectNode all = scopes.scope(c, run, null, wanted(List.of(), true, List.of(), true));
        assertThat(all.get("tasks").propertyNames()).containsExactly("a", "b");
        assertThat(all.get("steps").isEmpty()).isTrue();
        assertThat(scopes.step(c, first.id()).input()).isEqualTo("{\"say\": \"${ .inputs.word }\"}");
    }

    /** After a retry of a failed run, the new attempt's task has the old one's output. */
    @Test
    void reusedOutputIsReadFromItsFirstAttempt() throws SQLException {
        world.send(new Command.DecideStep(run, stepOf("b").id(), false, "no", TESTER));
        world.forget(run);
        world.send(new Command.Retry(run, false, TESTER));
        ObjectNode scope = new ScopeReader().scope(c, run, null, wanted(List.of("a"), false, List.of(), false));
        assertThat(scope.get("tasks")).hasToString("{\"a\":{\"state\":\"completed\",\"output\":{\"n\":1}}}");
        assertThat(reader.tasks(c, world.workspace, run, Detail.WHOLE, null, false, null, 100).items().getFirst()
                .get("output"))
                .hasToString("{\"n\":1}");
        assertThat(reader.attempts(c, world.workspace, run)).extracting(a -> a.get("state").asString())
                .containsExactly("failed", "running");
    }

    @Test
    void aGroupsOutputIsItsChildrensInTheOrderOfTheirItems() throws SQLException {
        UUID id = new UUID(5, 5);
        var each = new TaskSpec("each", "Each", null, TaskType.OTHER, null, List.of(),
                TriggerRule.ALL_SUCCESS, null, "${ .inputs.words }", null, false,
                List.of(step("one")), null);
        world.send(new Command.Create(run(id, world.workspace, RunPolicy.DEFAULT, each), true, TESTER));
        UUID group = world.view(id).tasks().iterator().next().id();
        ScopeReader scopes = new ScopeReader();
        assertThat(scopes.task(c, group).forEach()).isNotNull();
        world.send(new Command.Evaluated(id, TimerKind.EVALUATE_GATE, group,
                new Command.Evaluation.Proceed(List.of("\"x\"", "\"y\"")), Actor.SYSTEM));
        StepRow one = claim(id);
        StepRow other = claim(id);
        assertThat(scopes.task(c, other.task().id()).forEach()).isNull();
        ObjectNode scope = scopes.scope(c, id, other.task().id(), wanted(List.of(), false, List.of(), false));
        assertThat(scope.get("item").asString() + scope.get("index").asInt())
                .isEqualTo(other.task().itemIndex() == 1 ? "y1" : "x0");
        world.send(new Command.Complete(id, other.id(), 1,
                Result.of(String.valueOf(other.task().itemIndex())), Actor.agent("worker")));
        world.send(new Command.Complete(id, one.id(), 1, Result.of(String.valueOf(one.task().itemIndex())),
                Actor.agent("worker")));
        assertThat(scopes.groupOutput(c, group)).hasToString("[0,1]");
    }

    private StepRow stepOf(String task) {
        return world.view(run).tasks().stream().filter(t -> t.key().equals(task)).findFirst().orElseThrow().steps()
                .getFirst();
    }

    private StepRow claim(UUID id) throws SQLException {
        var found = world.store.candidates(c, new Search(null, List.of("echo"), 10, new WorkspaceRoundRobin())).stream()
                .filter(q -> q.runId().equals(id))
                .findFirst().orElseThrow();
        Reply reply = world.send(new Command.Claim(id, found.taskId(), found.lane(), "worker", Duration.ofSeconds(30),
                Actor.agent("worker")));
        return world.view(id).step(((Reply.Claimed) reply).assignment().stepId());
    }

    private static ScopeReader.Wanted wanted(List<String> tasks, boolean allTasks, List<String> steps,
            boolean allSteps) {
        return new ScopeReader.Wanted(tasks, allTasks, steps, allSteps, false, false, false, false,
                false, false);
    }
}
