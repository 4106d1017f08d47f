package io.keelson.cli.view;

/** Phases of a task for display, in order of priority when there are few lines. */
enum Phase {
    FAILED, HUMAN, RETRY, ACTIVE, WAITING, DROPPED, DONE;

    /** The phase of a state of a run, a task or a step; unknown states count as active. */
    static Phase of(String state) {
        return switch (state) {
            case "failed" -> FAILED;
            case "awaiting_approval", "waiting_approval", "awaiting_human", "paused", "budget_exceeded",
                    "escalated" ->
                HUMAN;
            case "awaiting_retry", "retrying" -> RETRY;
            case "created", "pending", "ready", "queued" -> WAITING;
            case "skipped", "cancelled" -> DROPPED;
            case "completed" -> DONE;
            default -> ACTIVE;
        };
    }

    boolean ended() {
        return this == FAILED || this == DROPPED || this == DONE;
    }
}
