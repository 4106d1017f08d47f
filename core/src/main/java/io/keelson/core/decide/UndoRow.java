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
 * @param waiter the run that undoes its parent and waits for this undo; null if absent
 */
public record UndoRow(State state, @Nullable UUID undoRun, int tasks, UndoCounts counts, String requestedBy,
        @Nullable String reason,
        Instant requestedAt, @Nullable String errorCode, @Nullable String errorMessage, @Nullable UUID waiter) {

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
        return new UndoRow(now, undoRun, tasks, ends, requestedBy, reason, requestedAt, null, null,
                waiter);
    }

    UndoRow by(UUID run, int size) {
        return new UndoRow(State.RUNNING, run, size, UndoCounts.NONE, requestedBy, reason, requestedAt, null, null,
                waiter);
    }

    UndoRow withRefusal(StepError error) {
        return new UndoRow(State.REFUSED, null, 0, UndoCounts.NONE, requestedBy, reason, requestedAt, error.code(),
                error.message(), waiter);
    }

    UndoRow awaitedBy(UUID run) {
        return new UndoRow(state, undoRun, tasks, counts, requestedBy, reason, requestedAt, errorCode, errorMessage,
                run);
    }

    /** True before the end of the undo or its refusal. */
    boolean open() {
        return state == State.REQUESTED || state == State.RUNNING;
    }

    /**
     * The progress of the undo, in words about the run that is undone.
     *
     * @param ended whether that run has ended
     * @param questions of the run that undoes it, which wait for people
     */
    String text(boolean ended, int questions) {
        return switch (state) {
            case REQUESTED -> ended ? "it is to be undone: the run that undoes it is being made"
                    : "it is to be undone after its end, as run " + waiter + " undoes the run that started it";
            case RUNNING -> "run " + undoRun + " undoes it at present, in " + tasks + (tasks == 1 ? " task" : " tasks")
                    + (questions == 0 ? ""
                            : ", and waits for a person to decide in "
                                    + (questions == 1 ? "1 case" : questions + " cases"));
            case UNDONE -> "run " + undoRun + " has undone it" + countsText();
            case PARTLY_UNDONE -> "run " + undoRun + " has undone a part of it" + countsText();
            case FAILED -> "run " + undoRun + " was to undo it and has failed: `keelson retry " + undoRun
                    + "` continues it" + countsText();
            case CANCELLED -> "run " + undoRun + " was to undo it and was cancelled" + countsText();
            case NOTHING -> "it was to be undone, but no work of it has an undo";
            case REFUSED -> "it was to be undone, but the run that undoes it could not be created: " + errorCode
                    + (errorMessage == null ? "" : ": " + errorMessage);
        };
    }

    private String countsText() {
        return " (" + counts.undone() + " of " + tasks + " tasks undone, " + counts.byHand() + " done by hand, "
                + counts.notDone() + " never done, " + counts.notUndone() + " not undone)";
    }
}
