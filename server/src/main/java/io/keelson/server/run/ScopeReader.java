package io.keelson.server.run;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.NoSuchElementException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/** What expressions may look at, and the expressions themselves as the tables keep them. */
public final class ScopeReader {

    /**
     * A task's expressions.
     *
     * @param output JSON text; null when the task says nothing about its output
     * @param group true for a task with {@code for_each} itself
     */
    public record TaskText(UUID runId, @Nullable String when, @Nullable String forEach, @Nullable String output,
            boolean group) {}

    /** @param input JSON text, expressions unresolved */
    public record StepText(UUID runId, UUID taskId, String kind, String input) {}

    private static final String TASK = """
            select run_id, when_expr, for_each, output_template from orchestration_tasks where id = ?""";

    private static final String STEP = "select run_id, task_id, kind, input from orchestration_steps where id = ?";

    private static final String RUN_OUTPUT = "select output_template from orchestration_runs where id = ?";

    private static final String RUN =
            """
            select id, title as name, goal, inputs, attempt_number as attempt, tags from orchestration_runs where id = ?""";

    /** What a completed task yields: what its template made, else its last step's output. */
    private static final String YIELD = """
            case when t.state = 'completed' then coalesce(
                (select source.output from orchestration_tasks source where source.id = coalesce(t.carried_from, t.id)),
                (select s.output from orchestration_steps s
                  where s.task_id = coalesce(t.carried_from, t.id) and s.state = 'completed'
                  order by s.position desc, s.turn desc limit 1)) end as output""";

    private static final String TASKS = """
            select t.key, t.state, %s
              from orchestration_runs r
              join orchestration_tasks t on t.run_id = r.id and t.attempt = r.attempt_number
             where r.id = ? and""".formatted(YIELD);

    private static final String NAMED_TASKS = TASKS + " t.key = any (?)";

    private static final String ALL_TASKS = TASKS + " t.group_id is null order by t.sequence_number";

    private static final String STEPS = """
            select name, state, output from orchestration_steps
             where task_id = ? and (? or name = any (?))
             order by position, turn""";

    private static final String ITEM = "select item, item_index from orchestration_tasks where id = ?";

    private static final String GROUP = """
            select %s
              from orchestration_tasks g
              join orchestration_tasks t on t.run_id = g.run_id and t.attempt = g.attempt and t.group_id = g.id
             where g.id = ?
             order by t.item_index""".formatted(YIELD);

    public TaskText task(Connection c, UUID taskId) throws SQLException {
        return one(c, TASK, taskId, row -> new TaskText(Loading.uuid(row, "run_id"), row.getString("when_expr"),
                row.getString("for_each"), row.getString("output_template"), row.getString("for_each") != null));
    }

    public StepText step(Connection c, UUID stepId) throws SQLException {
        return one(c, STEP, stepId, row -> new StepText(Loading.uuid(row, "run_id"), Loading.uuid(row, "task_id"),
                row.getString("kind"), row.getString("input")));
    }

    /** JSON text with expressions that makes the run's output. */
    public String runOutput(Connection c, UUID runId) throws SQLException {
        return one(c, RUN_OUTPUT, runId, row -> row.getString("output_template"));
    }

    /** The outputs of a group's children in the order of their items; null for a child without one. */
    public JsonNode groupOutput(Connection c, UUID groupId) throws SQLException {
        ArrayNode outputs = Texts.JSON.createArrayNode();
        try (PreparedStatement statement = c.prepareStatement(GROUP)) {
            statement.setObject(1, groupId);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    outputs.add(json(row, "output"));
                }
            }
        }
        return outputs;
    }

    /**
     * The scope of an expression: {@code .inputs}, {@code .run}, {@code .tasks.<key>.output|state} of the run's current
     * attempt, and for a task {@code .steps.<name>.output|state} of its own steps, {@code .item} and {@code .index}.
     *
     * @param taskId null for the run's own output
     * @param tasks keys of the tasks to read; all when {@code allTasks}
     * @param steps names of the steps to read; all when {@code allSteps}
     */
    public ObjectNode scope(Connection c, UUID runId, @Nullable UUID taskId, Collection<String> tasks,
            boolean allTasks, Collection<String> steps, boolean allSteps) throws SQLException {
        ObjectNode scope = Texts.JSON.createObjectNode();
        ObjectNode run = one(c, RUN, runId, JsonRows::object);
        scope.set("inputs", run.remove("inputs"));
        scope.set("run", run);
        ObjectNode taskScope = scope.putObject("tasks");
        if (allTasks || !tasks.isEmpty()) {
            tasks(c, runId, tasks, allTasks, taskScope);
        }
        ObjectNode stepScope = scope.putObject("steps");
        if (taskId != null) {
            if (allSteps || !steps.isEmpty()) {
                steps(c, taskId, steps, allSteps, stepScope);
            }
            one(c, ITEM, taskId, row -> {
                if (row.getString("item") != null) {
                    scope.set("item", json(row, "item"));
                    scope.put("index", row.getInt("item_index"));
                }
                return scope;
            });
        }
        return scope;
    }

    private static void tasks(Connection c, UUID runId, Collection<String> keys, boolean all, ObjectNode into)
            throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(all ? ALL_TASKS : NAMED_TASKS)) {
            statement.setObject(1, runId);
            if (!all) {
                BinaryArray.bindTexts(statement, 2, keys);
            }
            states(statement, "key", into);
        }
    }

    private static void steps(Connection c, UUID taskId, Collection<String> names, boolean all, ObjectNode into)
            throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(STEPS)) {
            statement.setObject(1, taskId);
            statement.setBoolean(2, all);
            BinaryArray.bindTexts(statement, 3, names);
            states(statement, "name", into);
        }
    }

    /** A later turn of a step takes the earlier one's place. */
    private static void states(PreparedStatement statement, String name, ObjectNode into) throws SQLException {
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                ObjectNode each = into.putObject(row.getString(name));
                each.put("state", row.getString("state"));
                each.set("output", json(row, "output"));
            }
        }
    }

    private static JsonNode json(ResultSet row, String column) throws SQLException {
        String text = row.getString(column);
        return text == null ? NullNode.getInstance() : Texts.tree(text);
    }

    /** Takes the one row of an entity. */
    @FunctionalInterface
    private interface Take<T extends @Nullable Object> {
        T from(ResultSet row) throws SQLException;
    }

    private static <T extends @Nullable Object> T one(Connection c, String sql, UUID id, Take<T> take)
            throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(sql)) {
            statement.setObject(1, id);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    throw new NoSuchElementException("no such row: " + id);
                }
                return take.from(row);
            }
        }
    }
}
