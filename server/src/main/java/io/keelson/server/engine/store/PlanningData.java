package io.keelson.server.engine.store;

import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.money.Amounts;
import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code board_tasks.planning_data} and the priority of a run on the board. */
final class PlanningData {
    private static final String PRIORITY = "high";

    private PlanningData() {}

    /** The value of {@code config.priority}. */
    static String priority(String config) {
        return config.contains("\"priority\"") ? Json.read(config).path("priority").asString(PRIORITY)
                : PRIORITY;
    }

    /** The plan's strategy; null if absent. */
    static @Nullable String strategy(String plan) {
        return plan.contains("\"strategy\"") ? Json.read(plan).path("strategy").asString(null) : null;
    }

    /**
     * A run's progress, current task and budget.
     *
     * @param strategy null to leave out
     */
    static String of(RunRow run, @Nullable String strategy) {
        ObjectNode data = Json.object().put("run_id", run.id().toString());
        if (strategy != null) {
            data.put("strategy", strategy);
        }
        data.putObject("task_progress").put("completed", run.counts().tasksCompleted())
                .put("total", run.counts().tasks()).put("failed", run.counts().tasksFailed());
        data.put("current_task", run.currentTask());
        BigDecimal limit = run.hardLimit() != null ? run.hardLimit() : run.policy().budget().hardLimit();
        data.putObject("budget").put("spent", amount(run.cost())).put("limit", limit == null ? null : amount(limit));
        return data.toString();
    }

    private static BigDecimal amount(BigDecimal value) {
        return value.signum() == 0 ? Amounts.ZERO : value.stripTrailingZeros();
    }

    /** A task's position in its run's plan. */
    static String of(UUID run, TaskRow task) {
        ObjectNode data = Json.object().put("task_id", task.id().toString())
                .put("run_id", run.toString()).put("sequence", task.sequence())
                .put("task_type", task.spec().taskType().wire()).put("attempt", task.attempt())
                .put("continuation", task.continuations());
        ArrayNode dependencies = data.putArray("dependencies");
        task.upstreams().forEach(up -> dependencies.add("depends on: " + up.key()));
        return data.put("trigger_rule", task.spec().triggerRule().wire()).toString();
    }

    /** The tries of a task; null for the first one, which its row was created with. */
    static @Nullable String tries(TaskRow task) {
        return task.attempt() == 1 && task.continuations() == 0 ? null
                : Json.object().put("attempt", task.attempt())
                        .put("continuation", task.continuations()).toString();
    }
}
