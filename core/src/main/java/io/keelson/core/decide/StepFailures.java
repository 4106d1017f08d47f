package io.keelson.core.decide;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryDecision;
import io.keelson.core.policy.RetryDecision.Action;
import io.keelson.core.policy.RetryReason;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.StepError;
import io.keelson.core.run.StepPayload;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Applies the failure policy to a step: retry, ticket, ignore, or fail its task. */
final class StepFailures {
    static final String WORKER_LOST = "WORKER_HEARTBEAT_TIMEOUT";

    /** Failures of the account at a provider of models. */
    static final Set<String> ACCOUNT = Set.of("MODEL_QUOTA", "MODEL_KEY_REFUSED");
    private static final String TIMEOUT = "STEP_TIMEOUT";

    private StepFailures() {}

    /** A running step's holder has reported a failure, already recorded with its cost. */
    static void reported(Decision d, StepRow step, StepError reported, BigDecimal cost,
            PayloadPart.@Nullable Spent spent) {
        StepError error = step.atMostOnce() && reported.code().equals(TIMEOUT) ? unknown() : reported;
        step.failures++;
        step.deliveries = 0;
        BigDecimal again = cost.max(Holds.leastCost(d, step.spec()));
        RetryDecision decision = TaskFailures.decide(d, step.spec().retry(), error, step.attempt - step.grantedRetries,
                step.failures, step.startedAt, again, step.id().getLeastSignificantBits() ^ step.failures);
        judge(d, step, error, needsPerson(d, error, decision) ? escalating(decision)
                : decision.action() == Action.ESCALATE && taskTries(step) ? failing(decision) : decision, spent);
    }

    /** True when only a person can change the reason of a provider's refusal: an exhausted quota or a rejected key. */
    private static boolean needsPerson(Decision d, StepError error, RetryDecision decision) {
        return ACCOUNT.contains(error.code()) && decision.action() == Action.FAIL
                && TaskFailures.escalation(d).enabled();
    }

    private static RetryDecision escalating(RetryDecision decision) {
        return new RetryDecision(Action.ESCALATE, decision.reason(), Duration.ZERO, decision.attempts(),
                decision.failures(), 0, 0);
    }

    /** The task decides whether a person is asked. */
    private static RetryDecision failing(RetryDecision decision) {
        return new RetryDecision(Action.FAIL, decision.reason(), Duration.ZERO, decision.attempts(),
                decision.failures(), decision.remainingAttempts(), decision.remainingFailures());
    }

    /** The system that the step needs has been busy for too long; already recorded. */
    static void exhausted(Decision d, StepRow step, StepError error, PayloadPart.@Nullable Spent spent) {
        step.failures++;
        step.deliveries = 0;
        judge(d, step, error, noFurther(d, step, RetryReason.RETRY_TIME_EXHAUSTED), spent);
    }

    /** A call that is executed at most once has lost its lease: its agent decides. */
    static void failLostCall(Decision d, StepRow step) {
        judge(d, step, unknown(), new RetryDecision(Action.FAIL, RetryReason.NON_RETRYABLE_ERROR, Duration.ZERO,
                step.attempt, step.failures, 0, 0), null);
    }

    private static StepError unknown() {
        return new StepError(PlanRows.OUTCOME_UNKNOWN, ErrorClass.PERMANENT, PlanRows.UNKNOWN);
    }

    /** Too many holders in a row lost the step; it is not delivered again. */
    static void poisoned(Decision d, StepRow step, StepError error) {
        judge(d, step, error, noFurther(d, step, RetryReason.ATTEMPT_BUDGET_EXHAUSTED), null);
    }

    private static RetryDecision noFurther(Decision d, StepRow step, RetryReason reason) {
        boolean ask = TaskFailures.escalation(d).onExhausted();
        return new RetryDecision(ask ? Action.ESCALATE : Action.FAIL, reason, Duration.ZERO, step.attempt,
                step.failures, 0, 0);
    }

    private static void judge(Decision d, StepRow step, StepError error, RetryDecision decision,
            PayloadPart.@Nullable Spent spent) {
        remember(step, error);
        PayloadPart.Failure cause = PayloadPart.Failure.of(error, decision);
        switch (decision.action()) {
            case RETRY -> {
                step.nextRunAt = d.now.plus(decision.delay());
                d.move(step, StepState.AWAITING_RETRY, new StepPayload.Retrying(cause, spent));
                d.arm(TimerKind.STEP_RETRY, step.id(), step.nextRunAt);
            }
            case ESCALATE -> {
                step.nextRunAt = null;
                d.move(step, StepState.AWAITING_RETRY, new StepPayload.Retrying(cause, spent));
                Tickets.failure(d, step.task(), step, error, decision.reason().wire());
            }
            case FAIL -> {
                step.failureIgnored = ignoresFailure(d, step, error);
                LostAnswers.unfetched(d, step);
                Requests.abandon(d, step);
                d.move(step, StepState.FAILED, new StepPayload.Failed(cause, spent, null, step.failureIgnored));
                failed(d, step, error, new PayloadPart.Failure(error.code(), error.errorClass().wire(),
                        error.message(), decision.reason().wire(), null));
            }
            case ABORT -> {
                TaskFailures.rejected(step.task(), error);
                LostAnswers.unfetched(d, step);
                Requests.abandon(d, step);
                d.move(step, StepState.FAILED, new StepPayload.Failed(cause, spent, null, false));
                TaskFailures.abort(d, decision.reason(), step.task(), error);
            }
        }
    }

    /** A step without a holder has failed for good: a rejected approval, an input that cannot be resolved. */
    static void failWithoutHolder(Decision d, StepRow step, StepError error, StepPayload payload) {
        remember(step, error);
        step.failureIgnored = ignoresFailure(d, step, error);
        Requests.abandon(d, step);
        d.move(step, StepState.FAILED, payload);
        failed(d, step, error, PayloadPart.Failure.of(error));
    }

    private static void remember(StepRow step, StepError error) {
        step.errorCode = error.code();
        step.errorMessage = error.message();
        step.errorClass = error.errorClass().wire();
    }

    private static boolean ignoresFailure(Decision d, StepRow step, StepError error) {
        return step.spec().kind() == StepKind.CALL || mode(step.task()) == FailureMode.CONTINUE
                && step.spec().kind() != StepKind.VERIFY
                && !(taskTries(step) && TaskFailures.decide(d, step.task(), error).action() != Action.FAIL);
    }

    /** A task's failure mode after a step's final failure; items and rounds of a task leave CONTINUE to the task. */
    private static FailureMode mode(TaskRow task) {
        FailureMode mode = task.spec().policy().failureMode();
        return task.group() != null && !task.isMember() && mode == FailureMode.CONTINUE ? FailureMode.FAIL_FAST : mode;
    }

    /** @param failure the payload in case the task fails with the step */
    private static void failed(Decision d, StepRow step, StepError error, PayloadPart.Failure failure) {
        TaskRow task = step.task();
        if (step.spec().kind() == StepKind.VERIFY) {
            Verdicts.missing(d, task, error);
            return;
        }
        if (step.spec().kind() == StepKind.CALL) {
            if (AgentMistakes.tolerated(d, step)) {
                TaskProgress.advance(d, task, null);
            }
            return;
        }
        switch (mode(task)) {
            case CONTINUE -> {
                if (step.failureIgnored) {
                    TaskProgress.advance(d, task, null);
                } else {
                    TaskFailures.task(d, task, error);
                }
            }
            case RETRY -> TaskFailures.task(d, task, error);
            case FAIL_FAST -> {
                if (taskTries(step) || error.code().equals(WORKER_LOST) && !task.system()
                        || Undoing.asksAbout(task, error)) {
                    TaskFailures.task(d, task, error);
                } else {
                    TaskFailures.rejected(task, error);
                    EventPayloads.crashed(d, task, error);
                    if (!Ladder.climb(d, task, error, failure)) {
                        Propagation.failed(d, task, error, failure);
                    }
                }
            }
        }
    }

    /** True for a turn whose tries are the attempts of its task; a turn with tries of its own does not multiply them. */
    private static boolean taskTries(StepRow step) {
        TaskRow task = step.task();
        return step.spec().kind() == StepKind.TURN && !task.system()
                && (step.spec().retry().maxAttempts() == 1 || task.spec().policy().retry() != null);
    }
}
