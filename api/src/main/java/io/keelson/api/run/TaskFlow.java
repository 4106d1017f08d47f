package io.keelson.api.run;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The place of a task in the switches and groups of its plan as it was written.
 *
 * @param chooses the switch whose branch the task chooses; null for other tasks
 * @param ends the switch or group that ends with the task; null for other tasks
 * @param branches of a task that chooses, in the order of their conditions
 * @param within branches and groups that contain the task, the outermost first
 */
public record TaskFlow(@Nullable String chooses, @Nullable String ends, List<Branch> branches, List<Place> within) {

    /**
     * A branch of a switch.
     *
     * @param name unique in its switch
     * @param when its condition; null for the branch that is chosen if no condition holds
     */
    public record Branch(String name, @Nullable String when) {}

    /**
     * A branch or group that contains a task.
     *
     * @param of id of the switch or group
     * @param branch name of the switch's branch; null for a group
     */
    public record Place(String of, @Nullable String branch) {}

    public TaskFlow {
        branches = List.copyOf(branches);
        within = List.copyOf(within);
    }
}
