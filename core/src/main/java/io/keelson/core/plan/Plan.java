package io.keelson.core.plan;

import java.util.List;

/**
 *
 * The decomposition of a run into tasks, in plan order.
 *
 * @param version starts at 1, rises with every re-planning
 * @param strategy how its tasks are to be done; {@code mixed} where the plan does not name one
 */
public record Plan(int version, List<TaskSpec> tasks, String strategy) {

    /** The strategy of a plan that names none. */
    public static final String MIXED = "mixed";

    public Plan {
        tasks = List.copyOf(tasks);
    }

    /** A plan without a strategy. */
    public Plan(int version, List<TaskSpec> tasks) {
        this(version, tasks, MIXED);
    }
}
