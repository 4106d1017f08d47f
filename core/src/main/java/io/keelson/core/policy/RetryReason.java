package io.keelson.core.policy;

import java.util.Locale;

/** Why a failure was decided as it was; stable codes (specification, failure §2). */
public enum RetryReason {
    RETRY_SCHEDULED, ATTEMPT_BUDGET_EXHAUSTED, FAILURE_BUDGET_EXHAUSTED,
    /** {@code max_elapsed_seconds} have passed since the first try began. */
    RETRY_TIME_EXHAUSTED, NON_RETRYABLE_ERROR,
    /** A failure reported after the success: nothing is retried. */
    RETRY_SUCCEEDED,
    /** Another attempt was asked for of what has failed for good: none begins. */
    RETRY_STATE_TERMINAL, INSUFFICIENT_CREDITS, RUN_CANCELLED, RUN_TIMEOUT, BACKOFF_EXCEEDED, ERROR_COUNT_EXCEEDED,
    ERROR_RATE_EXCEEDED;

    private final String wire = name().toLowerCase(Locale.ROOT);

    public String wire() {
        return wire;
    }
}
