package io.keelson.server.plan;

import static io.keelson.core.plan.RunPolicy.DEFAULT;

import io.keelson.core.plan.Autonomy;
import io.keelson.core.plan.RunPolicy;
import tools.jackson.databind.JsonNode;

/** What a run's config says to the core; the rest of it is stored as given. */
final class Configs {

    private Configs() {}

    /** A plan that its caller gave counts as approved unless the level says {@code approve} (lifecycle §1). */
    static RunPolicy policy(JsonNode config) {
        JsonNode limits = config.path("limits");
        return new RunPolicy(
                Autonomy.APPROVE.wire().equals(Nodes.text(config.path("autonomy"), "level")),
                Nodes.integer(config, "max_attempts", DEFAULT.maxAttempts()),
                Nodes.integer(config, "max_agents", DEFAULT.maxAgents()),
                Nodes.integer(limits, "tasks_per_agent", DEFAULT.tasksPerAgent()),
                Nodes.integer(limits, "tasks_per_default_agent", DEFAULT.tasksPerDefaultAgent()),
                Nodes.integer(limits, "steps_per_task", DEFAULT.stepsPerTask()),
                "sequential".equals(Nodes.text(config, "task_order")),
                Nodes.integer(limits, "max_deliveries", DEFAULT.maxDeliveries()),
                Nodes.integer(config.path("retry"), "max_continuations_per_task", DEFAULT.maxContinuations()),
                DEFAULT.maxFanOut());
    }
}
