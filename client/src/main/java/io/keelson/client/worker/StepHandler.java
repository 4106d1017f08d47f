package io.keelson.client.worker;

import org.jspecify.annotations.Nullable;

/** Executes the steps of one tool. Called by many threads at once, one call per step. */
@FunctionalInterface
public interface StepHandler {

    /**
     * Does the work once. It may be called again for the same step (another attempt, or a repetition after a lost
     * worker), so external changes should be keyed by {@link StepContext#effectKey()}.
     *
     * @return the output, any value that Jackson can write; {@link Continue} for another turn
     * @throws StepFailure the named, classified outcome "it did not work"
     * @throws StepDeferral when a system that the step needs is busy
     * @throws Exception anything else counts as an {@link ErrorClass#INFRASTRUCTURE} failure and is tried again
     */
    @Nullable Object handle(StepContext step) throws Exception;
}
