package io.keelson.core.lifecycle;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A published vocabulary for the lifecycle of runs: its machines, and its names of the canonical states.
 *
 * @param title the contract's own name
 * @param task null when the contract has no tasks
 * @param step null when the contract has no steps
 */
public record Contract(String name, String title, Projection<RunState> run, @Nullable Projection<TaskState> task,
        @Nullable Projection<StepState> step) {

    /** The projections of its entities, outermost first. */
    public List<Projection<?>> projections() {
        return Stream.<Projection<?>>of(run, task, step).filter(Objects::nonNull).toList();
    }
}
