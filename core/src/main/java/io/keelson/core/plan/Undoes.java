package io.keelson.core.plan;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The work that a task of an undo compensates.
 *
 * @param task id of the original task
 * @param key its id in the plan; an item or a round has its number in brackets
 * @param step name of the original step; null where the whole task is undone
 * @param run the run that the step started and that is undone; null where the work of the task itself is
 */
public record Undoes(UUID task, String key, @Nullable String step, @Nullable UUID run) {

    /** Work of the task itself. */
    public Undoes(UUID task, String key, @Nullable String step) {
        this(task, key, step, null);
    }
}
