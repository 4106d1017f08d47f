package io.keelson.core.policy;

import java.time.Duration;

/**
 * A decision about a failure.
 *
 * @param delay before the next try; zero unless the action is {@link Action#RETRY}
 * @param attempts begun so far
 * @param failures so far, this one included
 * @param remainingAttempts that the policy still allows, ≥ 0
 * @param remainingFailures that the policy still allows, ≥ 0
 */
public record RetryDecision(Action action, RetryReason reason, Duration delay, int attempts, int failures,
        int remainingAttempts, int remainingFailures) {

    /** The possible reactions to a failure. */
    public enum Action {
        /** Try again after the delay. */
        RETRY,
        /** Park it and open a ticket. */
        ESCALATE,
        /** It fails for good; the level above decides the consequence. */
        FAIL,
        /** The whole run ends. */
        ABORT
    }

    /** True when another attempt is scheduled. */
    public boolean allowed() {
        return action == Action.RETRY;
    }

    /** True when only a person's request can cause another attempt. */
    public boolean terminal() {
        return action == Action.FAIL || action == Action.ABORT;
    }

    /** The next state of the step or task: {@code awaiting_retry} or {@code failed}. */
    public String nextState() {
        return terminal() ? "failed" : "awaiting_retry";
    }
}
