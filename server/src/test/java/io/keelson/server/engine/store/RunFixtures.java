package io.keelson.server.engine.store;

import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.TaskType;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.NewRun;
import io.keelson.server.TestCredits;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.json.Json;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Runs, plans and rows for tests of the store. */
public final class RunFixtures {

    private RunFixtures() {}

    static StepSpec step(String name) {
        return step(name, StepKind.TOOL, "echo");
    }

    static StepSpec step(String name, StepKind kind, String tool) {
        return new StepSpec(name, kind, tool, "{\"say\":\"${ .inputs.word }\"}", RetryPolicy.STEP,
                Duration.ofSeconds(30));
    }

    static TaskSpec task(String id, List<String> dependsOn, StepSpec... steps) {
        return new TaskSpec(id, "Task " + id, null, TaskType.OTHER, null,
                dependsOn.stream().map(up -> new Dependency(up, true)).toList(), TriggerRule.ALL_SUCCESS, null, null,
                null, false, List.of(steps), null);
    }

    /** A task that an agent of the roster does. */
    static TaskSpec task(String id, String agent, StepSpec... steps) {
        TaskSpec task = task(id, List.of(), steps);
        return task
                .with(task.policy().with(new AgentTerms(AgentTerms.ROSTER, 1, agent, null, List.of(), 0, List.of())));
    }

    static NewRun run(UUID id, UUID workspace, RunPolicy policy, TaskSpec... tasks) {
        return new NewRun(id, workspace, "a run", null, "the goal", new Plan(1, List.of(tasks)),
                "{\"run\":\"" + id + "\"}",
                "{}", policy, "{\"word\":\"hello\"}", "[\"nightly\"]", null, 100, "api", null, null, "tester");
    }

    /** The name of that plan: its run's id, for a first one. */
    static String planOf(String planJson) {
        return Json.read(planJson).get("run").asString();
    }

    static UUID workspace(Database database) {
        UUID id = UUID.randomUUID();
        database.runInTransaction(c -> execute(c, "insert into workspaces (id, name) values ('" + id + "', 'w')"));
        TestCredits.grant(database, id);
        return id;
    }

    public static void execute(Connection c, String sql) throws SQLException {
        try (var statement = c.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The first column of every row, as text. */
    static List<String> query(Connection c, String sql, Object... parameters) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            List<String> found = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(row.getString(1));
                }
            }
            return found;
        }
    }
}
