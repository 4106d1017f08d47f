package io.keelson.server.run;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
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

    public TaskText task(Connection c, UUID taskId) throws SQLException {
        throw new UnsupportedOperationException();
    }

    public StepText step(Connection c, UUID stepId) throws SQLException {
        throw new UnsupportedOperationException();
    }

    /** JSON text with expressions that makes the run's output. */
    public String runOutput(Connection c, UUID runId) throws SQLException {
        throw new UnsupportedOperationException();
    }

    /** The outputs of a group's children in the order of their items; null for a child without one. */
    public JsonNode groupOutput(Connection c, UUID groupId) throws SQLException {
        throw new UnsupportedOperationException();
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
        throw new UnsupportedOperationException();
    }
}
