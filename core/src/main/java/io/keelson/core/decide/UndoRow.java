package io.keelson.core.decide;

import io.keelson.core.run.Command.Evaluation.UndoCounts;
import io.keelson.core.run.StepError;
import java.time.Instant;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An ended run's knowledge of its undo.
 *
 * @param undoRun the run that undoes it; null before it exists
 * @param tasks of that run; 0 before it exists
 * @param counts of these tasks once that run has ended
 * @param errorCode reason of the refusal; null if absent
 */
public record UndoRow(State state, @Nullable UUID undoRun, int tasks, UndoCounts counts, String requestedBy,
        @Nullable String reason,
        Instant requestedAt, @Nullable String errorCode, @Nullable String errorMessage) {

    /** The progress of an undo. */
    public enum State {
        /** The run that undoes is being made. */
        REQUESTED,
        /** The run that undoes has not ended. */
        RUNNING,
        /** All is undone, or a person has dealt with it. */
        UNDONE,
        /** Some of the work is not undone. */
        PARTLY_UNDONE,
        /** The run that undoes has failed; its retry continues the undo. */
        FAILED,
        /** The run that undoes was cancelled. */
        CANCELLED,
        /** No work of the run has an undo. */
        NOTHING,
        /** No run that undoes could be created; a new request tries again. */
        REFUSED;

        private final String wire = name().toLowerCase(Locale.ROOT);

        public String wire() {
            return wire;
        }

        public static State of(String wire) {
            return valueOf(wire.toUpperCase(Locale.ROOT));
        }
    }

    UndoRow in(State now, UndoCounts ends) {
        return new UndoRow(now, undoRun, tasks, ends, requestedBy, reason, requestedAt, null, null);
    }

    UndoRow by(UUID run, int size) {
        return new UndoRow(State.RUNNING, run, size, UndoCounts.NONE, requestedBy, reason, requestedAt, null, null);
    }

    UndoRow withRefusal(StepError error) {
        return new UndoRow(State.REFUSED, null, 0, UndoCounts.NONE, requestedBy, reason, requestedAt, error.code(),
                error.message());
    }
}
