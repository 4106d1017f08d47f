package io.keelson.core.plan;

import org.jspecify.annotations.Nullable;

/**
 * Models that a run's configuration names for its own work; events name them.
 *
 * @param planner null where none is named
 * @param verifier null where none is named
 */
public record Models(@Nullable String planner, @Nullable String verifier) {

    /** The tool by which a model of the server plans. */
    public static final String PLAN_TOOL = "model.plan";
    /** The tool by which a model of the server judges. */
    public static final String JUDGE_TOOL = "model.judge";

    public static final Models NONE = new Models(null, null);
}
