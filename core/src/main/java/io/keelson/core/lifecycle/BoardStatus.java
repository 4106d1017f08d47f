package io.keelson.core.lifecycle;

import java.util.Locale;

/**
 * Columns of the work board, and the column of a task or a run (PRD-101; a task that is only planned is in the
 * inbox). For runs the seed says "likewise": a run that waits for a person is in review.
 */
public enum BoardStatus {
    INBOX, ASSIGNED, IN_PROGRESS, REVIEW, DONE;

    private final String wire = name().toLowerCase(Locale.ROOT);

    /** The stored and shown name. */
    public String wire() {
        return wire;
    }

    public static BoardStatus of(TaskState state) {
        return switch (state) {
            case PENDING, QUEUED -> INBOX;
            case ASSIGNED, AWAITING_RETRY -> ASSIGNED;
            case RUNNING, CONTINUING -> IN_PROGRESS;
            case VERIFYING, AWAITING_HUMAN -> REVIEW;
            case COMPLETED, FAILED, CANCELLED, SKIPPED -> DONE;
        };
    }

    public static BoardStatus of(RunState state) {
        return switch (state) {
            case CREATED, PENDING, PLANNING -> INBOX;
            case READY, RETRYING -> ASSIGNED;
            case RUNNING, RESUMING -> IN_PROGRESS;
            case AWAITING_APPROVAL, PAUSED, BUDGET_EXCEEDED, ESCALATED -> REVIEW;
            case COMPLETED, FAILED, CANCELLED, SKIPPED -> DONE;
        };
    }
}
