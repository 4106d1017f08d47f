package io.keelson.core.policy;

import java.util.Locale;

/** Reasons of decisions about failures; stable codes. */
public enum RetryReason {
    RETRY_SCHEDULED("another try is scheduled"), ATTEMPT_BUDGET_EXHAUSTED("it was tried as often as its policy allows"),
    FAILURE_BUDGET_EXHAUSTED("it has failed as often as its policy allows"),
    /** {@code max_elapsed_seconds} have passed since the first try began. */
    RETRY_TIME_EXHAUSTED("the time for its tries is over"), NON_RETRYABLE_ERROR("another try cannot help"),
    /** A failure reported after the success: no retry. */
    RETRY_SUCCEEDED("it has succeeded"),
    /** Another attempt was requested of a final failure: refused. */
    RETRY_STATE_TERMINAL("its failure is final"), INSUFFICIENT_CREDITS("the workspace cannot pay for another try"),
    RUN_CANCELLED("the run is cancelled"), RUN_TIMEOUT("the time of the run is over"),
    BACKOFF_EXCEEDED("the wait before its next try would be longer than its policy allows"),
    ERROR_COUNT_EXCEEDED("the run has had more errors than it may have"),
    ERROR_RATE_EXCEEDED("too many calls of the run have failed");

    private final String wire = name().toLowerCase(Locale.ROOT);
    private final String text;

    RetryReason(String text) {
        this.text = text;
    }

    public String wire() {
        return wire;
    }

    /** The text for users: a clause without a full stop. */
    public String text() {
        return text;
    }
}
