package io.keelson.core.plan;

import org.jspecify.annotations.Nullable;

/**
 *
 * Models that a run's configuration names for its own work; events name them.
 *
 * @param planner null where none is named
 * @param verifier null where none is named
 */
public record Models(@Nullable String planner, @Nullable String verifier) {

    public static final Models NONE = new Models(null, null);
}
