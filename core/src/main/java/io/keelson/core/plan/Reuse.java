package io.keelson.core.plan;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Steps of a task whose results may come from other runs of the workspace.
 *
 * @param steps rules by the steps' names
 */
public record Reuse(Map<String, Rule> steps) {

    /** The member of a task and of a step that has the rule. */
    public static final String CACHE = "cache";

    /**
     * @param key jq expression over the step's scope, with marks of an expression; equal values have equal results. Null for the
     *            resolved input
     * @param maxAgeSeconds maximum age of a result that is taken over, since its step completed
     */
    public record Rule(@Nullable String key, long maxAgeSeconds) {}

    public Reuse {
        steps = Map.copyOf(steps);
    }

    /**
     * JSON pointer of the rule: the turn of an agent has that of its task.
     *
     * @param at pointer of the task
     * @param index of the step
     */
    static String pointer(StepSpec step, String at, int index) {
        return step.kind() == StepKind.TURN ? at + "/" + CACHE : at + "/steps/" + index + "/" + CACHE;
    }
}
