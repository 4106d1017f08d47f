package io.keelson.core.policy;

import static io.keelson.core.policy.RetryDecision.Action.ABORT;
import static io.keelson.core.policy.RetryDecision.Action.ESCALATE;
import static io.keelson.core.policy.RetryDecision.Action.FAIL;
import static io.keelson.core.policy.RetryDecision.Action.RETRY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.keelson.core.policy.FailurePolicy.Facts;
import io.keelson.core.policy.RetryDecision.Action;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Facts and the decision that follows, in the order in which they are looked at. */
class FailurePolicyTest {
    private static final RetryPolicy POLICY = new RetryPolicy(3, 3, Duration.ofSeconds(1), Duration.ofSeconds(10), 2, 0,
            Duration.ofMinutes(5));
    private static final EscalationPolicy ON_EXHAUSTED =
            new EscalationPolicy(true, true, Duration.ofSeconds(300), 5, 0.5);

    /** The first failure of something in a calm run, but for what is changed. */
    private static final class Given {
        private boolean cancelled;
        private boolean timedOut;
        private boolean affordable = true;
        private ErrorClass errorClass = ErrorClass.INFRASTRUCTURE;
        private int attempts = 1;
        private int failures = 1;
        private Duration elapsed = Duration.ZERO;
        private Duration retryAfter;
        private int errors = 1;
        private int calls = 1;

        private Facts facts() {
            return new Facts(cancelled, timedOut, affordable, errorClass, attempts, failures, elapsed,
                    retryAfter, errors, calls, 7);
        }
    }

    private interface Change {
        void to(Given given);
    }

    private static final Change CANCELLED = g -> g.cancelled = true;
    private static final Change TIMED_OUT = g -> g.timedOut = true;
    private static final Change PERMANENT = g -> g.errorClass = ErrorClass.PERMANENT;
    private static final Change UNAFFORDABLE = g -> g.affordable = false;
    private static final Change THIRD_ATTEMPT = g -> g.attempts = 3;
    private static final Change THIRD_FAILURE = g -> g.failures = 3;
    private static final Change FIVE_MINUTES = g -> g.elapsed = Duration.ofMinutes(5);
    private static final Change SIX_ERRORS = g -> g.errors = 6;

    static Stream<Arguments> order() {
        return Stream.of(
                arguments("cancelled: abort", CANCELLED, ABORT, "run_cancelled"),
                arguments("run timeout passed: abort", TIMED_OUT, ABORT, "run_timeout"),
                arguments("permanent: fail", PERMANENT, FAIL, "non_retryable_error"),
                arguments("cannot be paid for: abort", UNAFFORDABLE, ABORT, "insufficient_credits"),
                arguments("attempts exhausted: fail", THIRD_ATTEMPT, FAIL, "attempt_budget_exhausted"),
                arguments("failures exhausted: fail", THIRD_FAILURE, FAIL, "failure_budget_exhausted"),
                arguments("retry time exhausted: fail", FIVE_MINUTES, FAIL, "retry_time_exhausted"),
                arguments("too many errors: escalate", SIX_ERRORS, ESCALATE, "error_count_exceeded"),
                arguments("else retry", (Change) g -> {
                }, RETRY, "retry_scheduled"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("order")
    void eachRuleDecidesAlone(String name, Change change, Action action, String reason) {
        Given given = new Given();
        change.to(given);
        assertDecision(decide(given, EscalationPolicy.DEFAULT), action, reason);
    }

    @Test
    void theEarlierRuleDecidesWhereSeveralHold() {
        List<Arguments> rules = order().toList();
        for (int first = 0; first < rules.size(); first++) {
            Given given = new Given();
            rules.subList(first, rules.size()).forEach(rule -> ((Change) rule.get()[1]).to(given));
            Object[] expected = rules.get(first).get();
            assertDecision(decide(given, EscalationPolicy.DEFAULT), (Action) expected[2], (String) expected[3]);
        }
    }

    @ParameterizedTest
    @EnumSource(ErrorClass.class)
    void onlyInfrastructureAndQualityAreTriedAgainByThemselves(ErrorClass errorClass) {
        Given given = new Given();
        given.errorClass = errorClass;
        boolean again = errorClass == ErrorClass.INFRASTRUCTURE || errorClass == ErrorClass.QUALITY;
        assertThat(decide(given, EscalationPolicy.DEFAULT).allowed()).isEqualTo(again);
    }

    @Test
    void anExhaustedBudgetAsksAHumanWhereTheRunSaysSo() {
        for (Change exhausted : List.of(THIRD_ATTEMPT, THIRD_FAILURE, FIVE_MINUTES)) {
            Given given = new Given();
            exhausted.to(given);
            assertThat(decide(given, ON_EXHAUSTED).action()).isEqualTo(ESCALATE);
        }
    }

    @ParameterizedTest(name = "{0} errors of {1} calls: {2}")
    @CsvSource({"5, 5, retry_scheduled", "6, 100, error_count_exceeded", "5, 9, retry_scheduled",
            "5, 10, retry_scheduled", "4, 9, retry_scheduled", "6, 10, error_count_exceeded"})
    void burstsOfErrorsAskAHuman(int errors, int calls, String reason) {
        Given given = new Given();
        given.errors = errors;
        given.calls = calls;
        assertThat(decide(given, EscalationPolicy.DEFAULT).reason().wire()).isEqualTo(reason);
        assertThat(decide(given, EscalationPolicy.OFF).action()).as("without escalation").isEqualTo(RETRY);
    }

    @ParameterizedTest(name = "{0} errors of {1} calls: {2}")
    @CsvSource({"9, 9, retry_scheduled", "5, 10, retry_scheduled", "6, 10, error_rate_exceeded",
            "10, 20, retry_scheduled", "11, 20, error_rate_exceeded"})
    void aRateOfErrorsAboveHalfAsksAHumanOnceThereWereTenCalls(int errors, int calls, String reason) {
        Given given = new Given();
        given.errors = errors;
        given.calls = calls;
        EscalationPolicy rateOnly = new EscalationPolicy(true, false, Duration.ofSeconds(300), 1_000, 0.5);
        assertThat(decide(given, rateOnly).reason().wire()).isEqualTo(reason);
    }

    @ParameterizedTest(name = "{0} failures: {1}")
    @CsvSource({"4, retry_scheduled", "5, backoff_exceeded"})
    void aBackoffBeyondItsLimitAsksAHuman(int failures, String reason) {
        RetryPolicy many = new RetryPolicy(100, 100, Duration.ofSeconds(1), Duration.ofSeconds(10), 2, 0);
        Given given = new Given();
        given.failures = failures;
        assertThat(FailurePolicy.decide(many, EscalationPolicy.DEFAULT, given.facts()).reason().wire())
                .isEqualTo(reason);
        assertThat(FailurePolicy.decide(many, EscalationPolicy.OFF, given.facts()).delay())
                .as("capped without escalation").isEqualTo(Duration.ofSeconds(failures == 4 ? 8 : 10));
    }

    @ParameterizedTest(name = "asked for {0} s, policy says 2 s: {1} s")
    @CsvSource({"1, 2", "2, 2", "60, 60"})
    void theFailingSideMayAskForALongerDelay(int asked, int delay) {
        Given given = new Given();
        given.failures = 2;
        given.retryAfter = Duration.ofSeconds(asked);
        assertThat(decide(given, EscalationPolicy.DEFAULT).delay()).isEqualTo(Duration.ofSeconds(delay));
    }

    @Test
    void decisionCountsTheAttemptsLeft() {
        Given given = new Given();
        given.attempts = 2;
        RetryDecision decision = decide(given, EscalationPolicy.DEFAULT);
        assertThat(decision).isEqualTo(new RetryDecision(RETRY, RetryReason.RETRY_SCHEDULED, Duration.ofSeconds(1), 2,
                1, 1, 2));
        assertThat(decision.allowed()).isTrue();
        assertThat(decision.terminal()).isFalse();
        assertThat(decision.nextState()).isEqualTo("awaiting_retry");
    }

    @Test
    void nothingIsLeftBelowZero() {
        Given given = new Given();
        given.attempts = 9;
        given.failures = 9;
        RetryDecision decision = decide(given, EscalationPolicy.DEFAULT);
        assertThat(decision.remainingAttempts()).isZero();
        assertThat(decision.remainingFailures()).isZero();
        assertThat(decision.terminal()).isTrue();
        assertThat(decision.nextState()).isEqualTo("failed");
        assertThat(decision.delay()).isZero();
    }

    @Test
    void anEscalatedDecisionIsNeitherAllowedNorTerminal() {
        Given given = new Given();
        SIX_ERRORS.to(given);
        RetryDecision decision = decide(given, EscalationPolicy.DEFAULT);
        assertThat(decision.allowed()).isFalse();
        assertThat(decision.terminal()).isFalse();
        assertThat(decision.nextState()).isEqualTo("awaiting_retry");
    }

    private static RetryDecision decide(Given given, EscalationPolicy escalation) {
        return FailurePolicy.decide(POLICY, escalation, given.facts());
    }

    private static void assertDecision(RetryDecision decision, Action action, String reason) {
        assertThat(decision.action()).isEqualTo(action);
        assertThat(decision.reason().wire()).isEqualTo(reason);
    }
}
