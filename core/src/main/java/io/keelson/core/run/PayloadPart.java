package io.keelson.core.run;

import io.keelson.core.money.Tokens;
import io.keelson.core.policy.RetryDecision;
import io.keelson.core.policy.RetryReason;
import java.math.BigDecimal;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Members of a payload, or some that several payloads have in common. */
public sealed interface PayloadPart permits Payload, PayloadPart.Failure, PayloadPart.Cause, PayloadPart.Spent,
        PayloadPart.Waited, PayloadPart.Schedule, PayloadPart.Totals, PayloadPart.Settled {

    /** Writes the members in order. */
    void write(Members to);

    /**
     * The reason of a failure.
     *
     * @param reason the failure policy's, or the error's code in lower case
     * @param decision of the failure policy; null where it was not asked
     */
    record Failure(String errorCode, String errorClass, String errorMessage, String reason,
            @Nullable RetryDecision decision) implements PayloadPart {

        public static Failure of(StepError error, RetryDecision decision) {
            return new Failure(error.code(), error.errorClass().wire(), error.message(), decision.reason().wire(),
                    decision);
        }

        /** A failure without a policy's decision. */
        public static Failure of(StepError error) {
            return new Failure(error.code(), error.errorClass().wire(), error.message(),
                    error.errorClass().retryable() ? error.code().toLowerCase(Locale.ROOT)
                            : RetryReason.NON_RETRYABLE_ERROR.wire(),
                    null);
        }

        @Override
        public void write(Members to) {
            to.put("error_code", errorCode).put("error_class", errorClass).put("error_message", errorMessage)
                    .put("reason", reason);
            if (decision != null) {
                to.put("attempts", decision.attempts())
                        .put("failures", decision.failures()).put("remaining_attempts", decision.remainingAttempts())
                        .put("remaining_failures", decision.remainingFailures())
                        .put("retry_after_seconds",
                                decision.allowed() ? decision.delay().toMillis() / 1000.0 : null);
            }
        }
    }

    /** The error of another part of the run. */
    record Cause(@Nullable String errorCode, @Nullable String errorClass, @Nullable String errorMessage)
            implements PayloadPart {
        @Override
        public void write(Members to) {
            to.put("error_code", errorCode).put("error_class", errorClass).put("error_message", errorMessage);
        }
    }

    /**
     * The use of one try of a step.
     *
     * @param cost in credits
     * @param modelAnswered that the report names, where the cost is by the prices of another one, which was asked for; null
     *                      elsewhere
     * @param charged credits; null where it cost nothing
     * @param uncollected credits that neither the run's limit nor its workspace's balance had; null if absent
     * @param estimated whether some of the tokens are an upper bound, as their provider has not reported them
     */
    record Spent(Tokens tokens, BigDecimal cost, @Nullable String modelAnswered, @Nullable BigDecimal charged,
            @Nullable BigDecimal uncollected, boolean estimated)
            implements PayloadPart {
        @Override
        public void write(Members to) {
            to.put("tokens", tokens.total()).put("usage", tokens.none() ? null : tokens.members()).put("cost", cost)
                    .put("model_answered", modelAnswered).put("charged", charged).put("uncollected", uncollected)
                    .flag("estimated", estimated);
        }
    }

    /** The awaited signal or child run; the members of the other are left out. */
    record Waited(@Nullable String signal, @Nullable UUID signalId, boolean timedOut, @Nullable UUID childRunId,
            @Nullable String childState, @Nullable BigDecimal childCharged, @Nullable Long childTokens)
            implements PayloadPart {

        public static Waited signal(Signal signal) {
            return new Waited(signal.name(), signal.id(), false, null, null, null, null);
        }

        @Override
        public void write(Members to) {
            to.put("signal", signal).put("signal_id", signalId).flag("timed_out", timedOut)
                    .put("child_run_id", childRunId).put("child_state", childState).put("child_charged", childCharged)
                    .put("child_tokens", childTokens);
        }
    }

    /** When a level's next attempt begins; every attempt of a level ends in one failure. */
    record Schedule(String reason, double retryAfterSeconds, int attempts, int failures, int remainingAttempts,
            int remainingFailures) implements PayloadPart {
        @Override
        public void write(Members to) {
            to.put("reason", reason).put("retry_after_seconds", retryAfterSeconds).put("attempts", attempts)
                    .put("failures", failures).put("remaining_attempts", remainingAttempts)
                    .put("remaining_failures", remainingFailures);
        }
    }

    /**
     * The totals of an attempt of a run; its cost in credits.
     *
     * @param failures tasks that failed, and steps that failed in tasks which continued without them
     */
    record Totals(BigDecimal totalCost, long totalTokens, @Nullable Long durationMs, int tasksCompleted,
            int tasksFailed, int failures) implements PayloadPart {
        @Override
        public void write(Members to) {
            to.put("total_cost", totalCost).put("total_tokens", totalTokens).put("duration_ms", durationMs)
                    .put("tasks_completed", tasksCompleted).put("tasks_failed", tasksFailed)
                    .put("failures", failures);
        }
    }

    /** The settlement of credits that were reserved for an attempt. */
    record Settled(BigDecimal creditsCharged, BigDecimal creditsRefunded, @Nullable BigDecimal uncollected)
            implements PayloadPart {
        @Override
        public void write(Members to) {
            to.put("credits_charged", creditsCharged).put("credits_refunded", creditsRefunded)
                    .put("uncollected", uncollected);
        }
    }
}
