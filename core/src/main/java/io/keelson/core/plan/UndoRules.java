package io.keelson.core.plan;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * When the completed work of a run is undone without a request, and the run that an undo compensates.
 *
 * @param onFailure true when the run is undone after its failure
 * @param onCancel true when the run is undone after its cancellation
 * @param undoes the run that this one undoes; null for any other run
 */
public record UndoRules(boolean onFailure, boolean onCancel, @Nullable UUID undoes) {
    public static final UndoRules NONE = new UndoRules(false, false, null);
}
