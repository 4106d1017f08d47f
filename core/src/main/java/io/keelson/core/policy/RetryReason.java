package io.keelson.core.policy;

import java.util.Locale;

/** Reasons of decisions about failures; stable codes. */
public enum RetryReason {
    RETRY_SCHEDULED, ATTEMPT_BUDGET_EXHAUSTED, FAILURE_BUDGET_EXHAUSTED,
    /** {@code max_elapsed_seconds} have passed since the first try began. */
    RETRY_TIME_EXHAUSTED, NON_RETRYABLE_ERROR,
    /** A failure reported after the success: no retry. */
    RETRY_SUCCEEDED,
    /** Another attempt was requested of a final failure: refused. */
    RETRY_STATE_TERMINAL, INSUFFICIENT_CREDITS, RUN_CANCELLED, RUN_TIMEOUT, BACKOFF_EXCEEDED, ERROR_COUNT_EXCEEDED,
    ERROR_RATE_EXCEEDED;

    private final String wire = name().toLowerCase(Locale.ROOT);

    public String wire() {
        return wire;
    }
}
