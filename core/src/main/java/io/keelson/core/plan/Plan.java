package io.keelson.core.plan;

import java.util.List;

/**
 * The decomposition of a run into tasks, in plan order.
 *
 * @param version starts at 1, rises with every re-planning
 * @param strategy how its tasks are to be done, as it says itself: {@code mixed} where it does not
 */
public record Plan(int version, List<TaskSpec> tasks, String strategy) {

    /** What the strategy is where a plan does not say. */
    public static final String MIXED = "mixed";

    public Plan {
        tasks = List.copyOf(tasks);
    }

    /** One that does not name its strategy. */
    public Plan(int version, List<TaskSpec> tasks) {
        this(version, tasks, MIXED);
    }
}
