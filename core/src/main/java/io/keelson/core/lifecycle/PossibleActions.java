package io.keelson.core.lifecycle;

import java.util.List;

/** The actions of people that change an entity's state, by that state; refusals name them. */
public final class PossibleActions {

    private PossibleActions() {}

    /** The names of the actions below {@code /runs/{id}}; none for a run that nothing moves any more. */
    public static List<String> of(RunState state) {
        return switch (state) {
            case CREATED -> List.of("start", "cancel");
            case PENDING, READY, RUNNING, RESUMING -> List.of("pause", "fail", "cancel");
            case PLANNING, RETRYING -> List.of("fail", "cancel");
            case AWAITING_APPROVAL -> List.of("approve", "reject", "fail", "cancel");
            case PAUSED, ESCALATED -> List.of("resume", "fail", "cancel");
            case BUDGET_EXCEEDED -> List.of("budget", "resume", "fail", "cancel");
            case FAILED -> List.of("retry", "undo");
            case COMPLETED, CANCELLED -> List.of("undo");
            case SKIPPED -> List.of();
        };
    }

    /** The names of the actions below {@code /tasks/{id}}; none for an ended task. */
    public static List<String> of(TaskState state) {
        return switch (state) {
            case PENDING, QUEUED, RUNNING -> List.of("skip", "cancel");
            case ASSIGNED, CONTINUING, VERIFYING -> List.of("cancel");
            case AWAITING_HUMAN -> List.of("approve", "reject", "retry", "cancel");
            case AWAITING_RETRY -> List.of("retry", "skip", "cancel");
            case COMPLETED, FAILED, CANCELLED, SKIPPED -> List.of();
        };
    }
}
