package io.keelson.core.plan;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

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

    /** The repeated groups of the tasks that are done in rounds of a group, by the ids of these tasks. */
    public Map<String, String> loops() {
        Map<String, String> loops = new HashMap<>();
        for (TaskSpec task : tasks) {
            Repeat repeat = task.policy().repeat();
            if (repeat != null) {
                repeat.tasks().forEach(name -> loops.put(task.id() + "." + name, task.id()));
            }
        }
        return loops;
    }

    /** A plan without a strategy. */
    public Plan(int version, List<TaskSpec> tasks) {
        this(version, tasks, MIXED);
    }
}
