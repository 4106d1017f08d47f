package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import io.keelson.server.engine.store.ModelRates;
import io.keelson.server.engine.store.SharedModelRates;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

/** Limits of the steps that begin within a minute, by the times that the database has of them. */
@Breadth.Spread
class WorkRatesTest extends GatedEngines {

    private static final Sql BEGUN = Sql.of("""
            select started_at from orchestration_steps where started_at is not null order by started_at""");

    @Override
    Nodes open(Path folder) throws Exception {
        return new Nodes(folder, gate);
    }

    @Test
    void twoNodesTogetherKeepToTheRate() throws Exception {
        limit("steps_per_minute", 6_000);
        List<Engine> engines = List.of(nodes.node(), nodes.node());
        Instant start = now();
        List<UUID> runs = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            runs.add(nodes.submit(engines.get(i % 2), """
                    {name: r, goal: g, plan: {tasks: [{id: a, steps: [{tool: noop}, {tool: noop}]}]}}"""));
        }

        runs.forEach(run -> nodes.awaitState(run, "completed"));

        List<Instant> begun = startTimes();
        assertThat(begun).hasSize(120);
        for (int i = 51; i < begun.size(); i++) {
            assertThat(begun.get(i)).as("step %d", i).isAfterOrEqualTo(start.plusMillis(10L * (i - 51)));
        }
    }

    @Test
    void aToolsRateHoldsWithinATaskBesideOtherWork() throws Exception {
        limit("tool_per_minute:echo", 60);
        Engine engine = nodes.node();
        Instant start = now();
        UUID slow = nodes.submit(engine, """
                name: r
                goal: g
                plan: {tasks: [{id: a, steps: [{tool: echo, input: {x: 1}}, {tool: echo, input: {x: 2}}]}]}""");
        UUID other = nodes.submit(engine, "{name: r, goal: g, plan: {tasks: [{id: a, steps: [{tool: noop}]}]}}");

        nodes.awaitState(other, "completed");
        nodes.awaitState(slow, "completed");

        assertThat(startTimes().getLast()).isAfterOrEqualTo(start.plus(Duration.ofMillis(500)));
    }

    @Test
    void aModelsRateCountsStepsOfAllItsTools() throws Exception {
        limit("model_per_minute:large", 60);
        Engine engine = nodes.node();
        Instant start = now();
        UUID run = nodes.submit(engine, """
                name: r
                goal: g
                plan:
                  tasks:
                    - {id: a, steps: [{tool: echo, input: {model: large}}]}
                    - {id: b, steps: [{tool: noop, input: {model: large}}]}""");

        nodes.awaitState(run, "completed");

        assertThat(startTimes().getLast()).isAfterOrEqualTo(start.plus(Duration.ofMillis(500)));
    }

    /** Steps of a lane that a server holds count, too. */
    @Test
    void anAgentsRateCountsStepsOfItsTasks() throws Exception {
        limit("agent_per_minute:writer", 60);
        Engine engine = nodes.node();
        Instant start = now();
        NewRun given = nodes.run("""
                name: r
                goal: g
                plan:
                  tasks:
                    - {id: a, steps: [{tool: echo, input: {x: 1}}, {tool: noop}]}
                    - {id: b, steps: [{tool: noop}]}""");
        List<TaskSpec> tasks = given.plan().tasks();
        AgentTerms writer = new AgentTerms(AgentTerms.ROSTER, 1, "writer", null, List.of(), 0, List.of());
        TaskSpec ofWriter = tasks.getFirst().with(tasks.getFirst().policy().with(writer));
        engine.submit(new Command.Create(new NewRun(given.id(), given.workspaceId(), given.name(), null, given.goal(),
                new Plan(1, List.of(ofWriter, tasks.getLast())), given.planJson(), given.configJson(), given.policy(),
                given.inputsJson(), given.tagsJson(), null, 100, "api", null, null, "ann"), true, Nodes.WHO)).join();

        nodes.awaitState(given.id(), "completed");

        assertThat(startTimes()).hasSize(3);
        assertThat(startTimes().getLast()).isAfterOrEqualTo(start.plus(Duration.ofMillis(500)));
    }

    /** The tokens of requests, which a request knows and a claim does not. */
    @Test
    void stepsWaitForTheTokensOfTheirModel() throws Exception {
        limit("model_tokens_per_minute:large", 600);
        Engine engine = nodes.node();
        Instant start = now();
        ModelRates rates = new SharedModelRates(nodes.database);
        assertThat(rates.take(Nodes.WORKSPACE, "large", false, 25, Duration.ZERO).admitted()).isTrue();
        UUID run = nodes.submit(engine, """
                {name: r, goal: g, plan: {tasks: [{id: a, steps: [{tool: echo, input: {model: large}}]}]}}""");

        nodes.awaitState(run, "completed");

        assertThat(startTimes().getLast()).isAfterOrEqualTo(start.plusSeconds(2));
    }

    /** Requests of two servers at once, each with the time at which it is sent. */
    @Test
    void twoServersShareTheTokensOfAModel() throws Exception {
        limit("model_tokens_per_minute:large", 60_000);
        limit("model_per_minute:large", 600);
        List<ModelRates> servers = List.of(new SharedModelRates(nodes.database), new SharedModelRates(nodes.database));
        Queue<Instant> sent = new ConcurrentLinkedQueue<>();
        Instant start = now();
        try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
            for (int i = 0; i < 600; i++) {
                ModelRates server = servers.get(i % 2);
                threads.submit(() -> {
                    Instant asked = now();
                    ModelRates.Admission admission =
                            server.take(Nodes.WORKSPACE, "large", false, 200, Duration.ofHours(1));
                    sent.add(asked.plus(Objects.requireNonNull(admission.pause())));
                    server.correct(admission, 100);
                });
            }
        }
        Duration all = Duration.between(start, Collections.max(sent));

        assertThat(sent).hasSize(600);
        assertThat(all.toMillis()).as("at 10 requests of 100 tokens per second").isBetween(58_800L, 61_200L);
    }

    private List<Instant> startTimes() {
        return nodes.database.withConnection(c -> BEGUN.on(c).all(row -> Rows.time(row, "started_at")));
    }

    private Instant now() {
        return nodes.database
                .withConnection(c -> Sql.of("select clock_timestamp() as now").on(c).one(row -> Rows.time(row, "now")));
    }

    private void limit(String name, long most) {
        nodes.database.runInTransaction(c -> Sql.of("insert into workspace_limits values (:workspace, :name, :most)")
                .on(c).set("workspace", Nodes.WORKSPACE).set("name", name).set("most", most).update());
    }
}
