package io.keelson.core.plan;

import org.jspecify.annotations.Nullable;

/**
 *
 * Tool steps around a run.
 *
 * @param before must succeed before anything else of the run begins; null if absent
 * @param after runs when everything else has ended, with any result; its failure changes nothing; null if absent
 */
public record Hooks(@Nullable StepSpec before, @Nullable StepSpec after) {

    public static final Hooks NONE = new Hooks(null, null);
}
