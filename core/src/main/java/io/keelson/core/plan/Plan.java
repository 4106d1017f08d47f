package io.keelson.core.plan;

import java.util.List;

/**
 * The decomposition of a run into tasks, in plan order.
 *
 * @param version starts at 1, rises with every re-planning
 */
public record Plan(int version, List<TaskSpec> tasks) {

    public Plan {
        tasks = List.copyOf(tasks);
    }
}
