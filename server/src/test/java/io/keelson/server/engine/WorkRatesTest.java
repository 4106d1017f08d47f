package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Limits of the steps that begin within a minute, by the times that the database has of them. */
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
