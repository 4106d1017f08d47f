package io.keelson.core.policy;

import io.keelson.core.policy.RetryDecision.Action;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Retry, escalate, fail or abort: one order for every level. */
public final class FailurePolicy {

    private FailurePolicy() {}

    /**
     * The facts of a decision about an open series of attempts. A series that has ended is never decided: a late
     * failure and a request for another attempt are refused, as {@link RetryReason#RETRY_SUCCEEDED} and {@link
     * RetryReason#RETRY_STATE_TERMINAL}.
     *
     * @param cancelled the run was cancelled
     * @param runTimedOut the run's timeout has expired
     * @param affordable whether credits cover the known cost of the next attempt
     * @param attempts begun so far, from 1
     * @param failures so far, this one included, from 1
     * @param elapsed since the first attempt began
     * @param retryAfter minimum delay that the failing side requested; null if absent
     * @param errors of the run within the escalation's window, this one included
     * @param calls of the run within that window, this one included
     * @param seed of the jitter
     */
    public record Facts(boolean cancelled, boolean runTimedOut, boolean affordable,
            ErrorClass errorClass, int attempts, int failures, Duration elapsed, @Nullable Duration retryAfter,
            int errors, int calls, long seed) {}

    public static RetryDecision decide(RetryPolicy policy, EscalationPolicy escalation, Facts facts) {
        if (facts.cancelled) {
            return of(Action.ABORT, RetryReason.RUN_CANCELLED, policy, facts);
        }
        if (facts.runTimedOut) {
            return of(Action.ABORT, RetryReason.RUN_TIMEOUT, policy, facts);
        }
        if (!facts.errorClass.retryable()) {
            return of(Action.FAIL, RetryReason.NON_RETRYABLE_ERROR, policy, facts);
        }
        if (!facts.affordable) {
            return of(Action.ABORT, RetryReason.INSUFFICIENT_CREDITS, policy, facts);
        }
        RetryReason exhausted = exhausted(policy, facts);
        if (exhausted != null) {
            return of(escalation.onExhausted() ? Action.ESCALATE : Action.FAIL, exhausted, policy, facts);
        }
        RetryReason alarming = escalation.enabled() ? alarming(policy, escalation, facts) : null;
        if (alarming != null) {
            return of(Action.ESCALATE, alarming, policy, facts);
        }
        return of(Action.RETRY, RetryReason.RETRY_SCHEDULED, policy, facts);
    }

    private static @Nullable RetryReason exhausted(RetryPolicy policy, Facts facts) {
        if (facts.attempts >= policy.maxAttempts()) {
            return RetryReason.ATTEMPT_BUDGET_EXHAUSTED;
        }
        if (facts.failures >= policy.maxFailures()) {
            return RetryReason.FAILURE_BUDGET_EXHAUSTED;
        }
        Duration most = policy.maxElapsed();
        return most != null && facts.elapsed.compareTo(most) >= 0 ? RetryReason.RETRY_TIME_EXHAUSTED : null;
    }

    private static @Nullable RetryReason alarming(RetryPolicy policy, EscalationPolicy escalation, Facts facts) {
        if (policy.uncapped(facts.failures).compareTo(policy.max()) > 0) {
            return RetryReason.BACKOFF_EXCEEDED;
        }
        if (facts.errors > escalation.errorThreshold()) {
            return RetryReason.ERROR_COUNT_EXCEEDED;
        }
        return facts.calls >= EscalationPolicy.MIN_CALLS && facts.errors > escalation.errorRate() * facts.calls
                ? RetryReason.ERROR_RATE_EXCEEDED
                : null;
    }

    private static RetryDecision of(Action action, RetryReason reason, RetryPolicy policy, Facts facts) {
        Duration delay = Duration.ZERO;
        if (action == Action.RETRY) {
            delay = policy.delay(facts.failures, facts.seed);
            delay = facts.retryAfter != null && facts.retryAfter.compareTo(delay) > 0 ? facts.retryAfter : delay;
        }
        return new RetryDecision(action, reason, delay, facts.attempts, facts.failures,
                Math.max(0, policy.maxAttempts() - facts.attempts), Math.max(0, policy.maxFailures() - facts.failures));
    }
}
