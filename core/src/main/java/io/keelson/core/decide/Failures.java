package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Amounts;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.FailurePolicy;
import io.keelson.core.policy.RetryDecision;
import io.keelson.core.policy.RetryDecision.Action;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.policy.RetryReason;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.StepError;
import io.keelson.core.run.StepPayload;
import io.keelson.core.run.TaskPayload;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Applies the failure policy to a failure: retry, ticket, ignore, or propagate to the level above.
 */
final class Failures {
    static final String WORKER_LOST = "WORKER_HEARTBEAT_TIMEOUT";

    private Failures() {}

    /** A running step's holder has reported a failure, already recorded. */
    static void reported(Decision d, StepRow step, StepError error, Steps.Recorded recorded) {
        step.failures++;
        step.deliveries = 0;
        BigDecimal again = recorded.cost().max(d.funds.prices().known(step.spec().tool()));
        judge(d, step, error, decide(d, step.spec().retry(), error, step.attempt - step.grantedRetries, step.failures,
                step.startedAt, again, step.id().getLeastSignificantBits() ^ step.failures), recorded.spent());
    }

    /** Too many holders in a row lost the step; it is not delivered again. */
    static void poisoned(Decision d, StepRow step, StepError error) {
        boolean ask = escalation(d).onExhausted();
        RetryDecision decision = new RetryDecision(ask ? Action.ESCALATE : Action.FAIL,
                RetryReason.ATTEMPT_BUDGET_EXHAUSTED, Duration.ZERO, step.attempt, step.failures,
                0, 0);
        judge(d, step, error, decision, null);
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
                step.failureIgnored = ignoresFailure(step);
                d.move(step, StepState.FAILED, new StepPayload.Failed(cause, spent, null, step.failureIgnored));
                failed(d, step, error, new PayloadPart.Failure(error.code(), error.errorClass().wire(),
                        error.message(), decision.reason().wire(), null));
            }
            case ABORT -> {
                d.move(step, StepState.FAILED, new StepPayload.Failed(cause, spent, null, false));
                abort(d, decision.reason(), step.task(), error);
            }
        }
    }

    /** A step without a holder has failed for good: a rejected approval, an input that cannot be resolved. */
    static void refused(Decision d, StepRow step, StepError error, StepPayload payload) {
        remember(step, error);
        step.failureIgnored = ignoresFailure(step);
        d.move(step, StepState.FAILED, payload);
        failed(d, step, error, PayloadPart.Failure.of(error));
    }

    private static void remember(StepRow step, StepError error) {
        step.errorCode = error.code();
        step.errorMessage = error.message();
        step.errorClass = error.errorClass().wire();
    }

    private static boolean ignoresFailure(StepRow step) {
        return step.spec().kind() == StepKind.CALL
                || mode(step.task()) == FailureMode.CONTINUE && step.spec().kind() != StepKind.VERIFY;
    }

    /** A task's failure mode after a step's final failure; children of a group leave CONTINUE to the group. */
    private static FailureMode mode(TaskRow task) {
        FailureMode mode = task.spec().policy().failureMode();
        return task.group() != null && mode == FailureMode.CONTINUE ? FailureMode.FAIL_FAST : mode;
    }

    /** @param failure the payload in case the task fails with the step */
    private static void failed(Decision d, StepRow step, StepError error, PayloadPart.Failure failure) {
        TaskRow task = step.task();
        if (step.spec().kind() == StepKind.VERIFY) {
            Verdicts.missing(d, task, error);
            return;
        }
        if (step.spec().kind() == StepKind.CALL) {
            Steps.advance(d, task, null);
            return;
        }
        boolean ownPolicy = step.spec().kind() == StepKind.TURN && !triedBefore(step)
                || error.code().equals(WORKER_LOST);
        switch (mode(task)) {
            case CONTINUE -> Steps.advance(d, task, null);
            case RETRY -> task(d, task, error);
            case FAIL_FAST -> {
                if (ownPolicy && !task.system()) {
                    task(d, task, error);
                } else {
                    rejected(task, error);
                    ParentNotice.crashed(d, task, error);
                    Propagation.failed(d, task, error, failure);
                }
            }
        }
    }

    /** True where only the step's own retries count: its task's do not multiply them. */
    private static boolean triedBefore(StepRow step) {
        return step.spec().retry().maxAttempts() > 1 && step.task().spec().policy().retry() == null;
    }

    /** A repeat after a rejected output renews its effects, also in a later attempt of the run. */
    private static void rejected(TaskRow task, StepError error) {
        task.effectGeneration += error.errorClass() == ErrorClass.QUALITY ? 1 : 0;
    }

    /** A task has failed as a whole: its own policy decides. */
    static void task(Decision d, TaskRow task, StepError error) {
        rejected(task, error);
        task.failures++;
        task.errorCode = error.code();
        task.errorMessage = error.message();
        task.errorClass = error.errorClass().wire();
        Completion.cancelSteps(d, task);
        RetryDecision decision = decide(d, policy(d, task), error, task.attempt - task.grantedRetries, task.failures,
                task.startedAt, known(d, task), task.id().getLeastSignificantBits() ^ task.failures);
        ParentNotice.crashed(d, task, error);
        switch (decision.action()) {
            case RETRY -> {
                boolean judged = task.state == TaskState.VERIFYING;
                again(d, task, d.now.plus(decision.delay()), retrying(task, error, decision));
                if (judged) {
                    ParentNotice.retrying(d, task, decision.delay().toMillis() / 1000.0,
                            PayloadPart.Failure.of(error, decision));
                }
            }
            case ESCALATE -> {
                again(d, task, null, retrying(task, error, decision));
                Tickets.failure(d, task, null, error, decision.reason().wire());
            }
            case FAIL -> {
                if (task.state == TaskState.VERIFYING && error.errorClass() == ErrorClass.QUALITY) {
                    d.note(task, new TaskPayload.VerificationFailed(task.verifierScore, error.message(), 0,
                            PayloadPart.Failure.of(error, decision)));
                }
                Propagation.failed(d, task, error, PayloadPart.Failure.of(error, decision));
            }
            case ABORT -> abort(d, decision.reason(), task, error);
        }
    }

    /** @param when null parks it until a human has answered */
    static void again(Decision d, TaskRow task, @Nullable Instant when, TaskPayload payload) {
        task.nextRunAt = when;
        d.move(task, TaskState.AWAITING_RETRY, payload);
        SlotScheduling.free(d, task);
        if (when != null) {
            d.arm(TimerKind.TASK_RETRY, task.id(), when);
        }
    }

    /** Number of retries that the task has left. */
    static int retriesLeft(Decision d, TaskRow task) {
        return Math.max(0, policy(d, task).maxAttempts() - (task.attempt - task.grantedRetries));
    }

    /** Whether the task has attempts left. */
    static boolean mayRetry(Decision d, TaskRow task) {
        return retriesLeft(d, task) > 0 && task.failures + 1 < policy(d, task).maxFailures();
    }

    private static RetryPolicy policy(Decision d, TaskRow task) {
        RetryPolicy own = task.spec().policy().retry();
        return own == null ? d.run.policy().failures().task() : own;
    }

    /** The known cost of the task's steps. */
    private static BigDecimal known(Decision d, TaskRow task) {
        return task.steps.stream().map(step -> d.funds.prices().known(step.spec().tool())).reduce(Amounts.ZERO,
                BigDecimal::add);
    }

    /** @param cost the known cost of the next try */
    private static RetryDecision decide(Decision d, RetryPolicy policy, StepError error, int attempts, int failures,
            @Nullable Instant since, BigDecimal cost, long seed) {
        return FailurePolicy.decide(policy, escalation(d),
                new FailurePolicy.Facts(d.run.state == RunState.CANCELLED, TimeoutMonitor.runTimeIsUp(d),
                        Credits.affordable(d, cost), error.errorClass(), attempts, failures,
                        TimeoutMonitor.goingSince(d, since), error.retryAfter(),
                        d.view.calls.errors(d.now), d.view.calls.calls(d.now), seed));
    }

    /**
     * The escalation in force. A run that is planning cannot be held up: failures of its planner have a fixed outcome.
     */
    private static EscalationPolicy escalation(Decision d) {
        return FirstPlan.underWay(d) ? EscalationPolicy.OFF : d.run.policy().failures().escalation();
    }

    private static TaskPayload retrying(TaskRow task, StepError error, RetryDecision decision) {
        PayloadPart.Failure cause = PayloadPart.Failure.of(error, decision);
        return task.state == TaskState.VERIFYING
                ? new TaskPayload.VerificationFailed(task.verifierScore, error.message(), decision.remainingAttempts(),
                        cause)
                : ParentNotice.retrying(task, decision.delay().toMillis() / 1000.0, cause);
    }

    private static void abort(Decision d, RetryReason reason, TaskRow task, StepError error) {
        abort(d, reason.wire(), task, reason != RetryReason.INSUFFICIENT_CREDITS ? error
                : new StepError("INSUFFICIENT_CREDITS", ErrorClass.PERMANENT,
                        "the workspace cannot pay for another try after: " + error.message()));
    }

    /** The run ends immediately, with all its parts. */
    static void abort(Decision d, String reason, @Nullable TaskRow failing, StepError error) {
        d.run.errorCode = error.code();
        d.run.errorMessage = error.message();
        Completion.failAll(d, reason, failing, null, null);
    }
}
