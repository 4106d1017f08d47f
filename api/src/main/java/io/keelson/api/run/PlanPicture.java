package io.keelson.api.run;

import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import java.util.List;
import java.util.Map;

/**
 * The tasks of a run as boxes with places.
 *
 * @param runId id of the run
 * @param attempt attempt of the run, from 1
 * @param version version of the plan
 * @param width width of the whole in pixels
 * @param height height of the whole in pixels
 * @param boxWidth width of a box in pixels
 * @param boxHeight height of a box in pixels
 * @param boxes boxes as lists of equal length
 * @param edges edges as lists of equal length
 */
public record PlanPicture(@Id String runId, int attempt, int version, int width, int height, int boxWidth,
        int boxHeight,
        Boxes boxes, Edges edges) {

    /**
     * Boxes as lists of equal length.
     *
     * @param id the key of a single task
     * @param title title of the box
     * @param kind kind of the box
     * @param mark {@code choice} of a task that chooses the branch of a switch, {@code end} of a task that ends a switch or
     *     group; empty for others
     * @param expandable whether {@code expand} takes its id
     * @param tasks number of its tasks
     * @param states number of its tasks by state; empty for a plan that is not in force
     * @param x left side
     * @param y upper side
     */
    public record Boxes(List<String> id, List<String> title,
            List<@OneOf({"task", "group", "alike", "chain", "layers", "rest"}) String> kind,
            List<@OneOf({"", "choice", "end"}) String> mark,
            List<Boolean> expandable,
            List<Integer> tasks, List<Map<String, Integer>> states, List<Integer> x, List<Integer> y) {}

    /**
     * Edges as lists of equal length.
     *
     * @param from positions in the lists of boxes, from 0
     * @param to positions in the lists of boxes, from 0
     * @param bends the points between the two boxes, x and y in turn
     * @param branch name of the branch of a switch to which the edge leads; empty for others
     */
    public record Edges(List<Integer> from, List<Integer> to, List<List<Integer>> bends, List<String> branch) {}
}
