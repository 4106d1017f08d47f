package io.keelson.core.policy;

import java.time.Duration;

/**
 * What becomes of something that failed.
 *
 * @param delay before the next try; zero unless the action is {@link Action#RETRY}
 * @param attempts begun so far
 * @param failures so far, this one included
 * @param remainingAttempts that the policy still allows, ≥ 0
 * @param remainingFailures likewise
 */
public record RetryDecision(Action action, RetryReason reason, Duration delay, int attempts, int failures,
        int remainingAttempts, int remainingFailures) {

    /** What is done about a failure. */
    public enum Action {
        /** Try again after the delay. */
        RETRY,
        /** Park it and ask a human. */
        ESCALATE,
        /** It fails for good; the level above decides what that means. */
        FAIL,
        /** The whole run ends. */
        ABORT
    }

    /** True when another attempt is scheduled. */
    public boolean allowed() {
        return action == Action.RETRY;
    }

    /** True when no further attempt will be made without somebody's asking. */
    public boolean terminal() {
        return action == Action.FAIL || action == Action.ABORT;
    }

    /** The state of a step or task that follows: {@code awaiting_retry} or {@code failed}. */
    public String nextState() {
        return terminal() ? "failed" : "awaiting_retry";
    }
}
