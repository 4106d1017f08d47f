package io.keelson.core.plan;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The place of a task in the switches and groups of its plan. The engine sees their tasks as one list with dependencies and
 * conditions; this is for people and for explanations.
 *
 * @param chooses the switch whose branch the task chooses; null for other tasks
 * @param ends the switch or group that ends with the task; null for other tasks
 * @param branches of a task that chooses, in the order of their conditions
 * @param within branches and groups that contain the task, the outermost first
 */
public record Flow(@Nullable String chooses, @Nullable String ends, List<Branch> branches, List<Place> within) {

    /**
     * @param name unique in its switch
     * @param when an expression; null for the branch that is chosen if no condition holds
     */
    public record Branch(String name, @Nullable String when) {}

    /**
     * @param of id of a switch or group
     * @param branch name of the switch's branch; null for a group
     */
    public record Place(String of, @Nullable String branch) {}

    public Flow {
        branches = List.copyOf(branches);
        within = List.copyOf(within);
    }

    /** The branch of a switch that contains the task; empty if absent. */
    public String branchOf(String of) {
        return within.stream().filter(place -> place.of().equals(of) && place.branch() != null).map(Place::branch)
                .findFirst().orElse("");
    }

    /** The id of the task that chooses the branch of a switch. */
    public static String chooser(String of) {
        return of + ".switch";
    }

    /** The innermost branch that contains the task; null without one. */
    public @Nullable Place branch() {
        return within.reversed().stream().filter(place -> place.branch() != null).findFirst().orElse(null);
    }
}
