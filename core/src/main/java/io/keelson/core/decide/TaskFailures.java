package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Amounts;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.policy.FailurePolicy;
import io.keelson.core.policy.RetryDecision;
import io.keelson.core.policy.RetryDecision.Action;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.policy.RetryReason;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TaskPayload;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Applies the failure policy to a task: retry, ticket, or propagate. */
final class TaskFailures {
    private TaskFailures() {}

    /** A repeat after a rejected output renews its effects, also in a later attempt of the run. */
    static void rejected(TaskRow task, StepError error) {
        task.effectGeneration += error.errorClass() == ErrorClass.QUALITY ? 1 : 0;
    }

    /** Renews the effects of a step that a ticket held back and that fails with its run, if its output was rejected. */
    static void rejected(StepRow step) {
        step.task().effectGeneration += ErrorClass.QUALITY.wire().equals(step.errorClass) ? 1 : 0;
    }

    /** A task has failed as a whole: its own policy decides. */
    static void task(Decision d, TaskRow task, StepError error) {
        rejected(task, error);
        TaskMoves.cancelSteps(d, task);
        RetryDecision decision = decide(d, task, error);
        task.failures++;
        task.errorCode = error.code();
        task.errorMessage = error.message();
        task.errorClass = error.errorClass().wire();
        EventPayloads.crashed(d, task, error);
        boolean asks = decision.action() != Action.ABORT && Undoing.asksAbout(task, error);
        switch (asks ? Action.ESCALATE : decision.action()) {
            case RETRY -> {
                boolean judged = task.state == TaskState.VERIFYING;
                awaitRetry(d, task, d.now.plus(decision.delay()), retrying(task, error, decision));
                if (judged) {
                    EventPayloads.retrying(d, task, decision.delay().toMillis() / 1000.0,
                            PayloadPart.Failure.of(error, decision));
                }
            }
            case ESCALATE -> {
                awaitRetry(d, task, null, retrying(task, error, decision));
                Tickets.failure(d, task, null, error, decision.reason().wire());
            }
            case FAIL -> {
                if (Ladder.climb(d, task, error, PayloadPart.Failure.of(error, decision))) {
                    return;
                }
                if (task.state == TaskState.VERIFYING && error.errorClass() == ErrorClass.QUALITY) {
                    d.note(task, new TaskPayload.VerificationFailed(task.verifierScore, error.message(), 0,
                            PayloadPart.Failure.of(error, decision)));
                }
                Propagation.failed(d, task, error, PayloadPart.Failure.of(error, decision));
            }
            case ABORT -> abort(d, decision.reason(), task, error);
        }
    }

    /** The decision of the task's own policy on a failure of the whole task. */
    static RetryDecision decide(Decision d, TaskRow task, StepError error) {
        int failures = task.failures + 1;
        return decide(d, policy(d, task), error, task.attempt - task.grantedRetries, failures, task.startedAt,
                knownCost(d, task), task.id().getLeastSignificantBits() ^ failures);
    }

    /** @param when null parks it until a person has answered */
    static void awaitRetry(Decision d, TaskRow task, @Nullable Instant when, TaskPayload payload) {
        task.nextRunAt = when;
        d.move(task, TaskState.AWAITING_RETRY, payload);
        SlotScheduling.free(d, task);
        if (when != null) {
            d.arm(TimerKind.TASK_RETRY, task.id(), when);
        }
    }

    /** Number of attempts that the task may have by itself. */
    static int tries(Decision d, TaskRow task) {
        return policy(d, task).maxAttempts();
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
    private static BigDecimal knownCost(Decision d, TaskRow task) {
        return task.steps.stream().map(step -> Holds.leastCost(d, step.spec())).reduce(Amounts.ZERO,
                BigDecimal::add);
    }

    /** @param cost the known cost of the next try */
    static RetryDecision decide(Decision d, RetryPolicy policy, StepError error, int attempts, int failures,
            @Nullable Instant since, BigDecimal cost, long seed) {
        return FailurePolicy.decide(policy, escalation(d),
                new FailurePolicy.Facts(d.run.state == RunState.CANCELLED, CountedTime.runTimeIsUp(d.view, d.now),
                        Credits.affordable(d, cost), error.errorClass(), attempts, failures,
                        CountedTime.goingSince(d.view, since, d.now), error.retryAfter(),
                        d.view.calls.errors(d.now), d.view.calls.calls(d.now), seed));
    }

    /**
     * The escalation in force. A run that is planning cannot be paused: failures of its planner have a fixed outcome.
     */
    static EscalationPolicy escalation(Decision d) {
        return d.planning() ? EscalationPolicy.OFF : d.run.policy().failures().escalation();
    }

    private static TaskPayload retrying(TaskRow task, StepError error, RetryDecision decision) {
        PayloadPart.Failure cause = PayloadPart.Failure.of(error, decision);
        return task.state == TaskState.VERIFYING
                ? new TaskPayload.VerificationFailed(task.verifierScore, error.message(), decision.remainingAttempts(),
                        cause)
                : EventPayloads.retrying(task, decision.delay().toMillis() / 1000.0, cause);
    }

    /** The policy ends the run with the task's failure. */
    static void abort(Decision d, RetryReason reason, TaskRow task, StepError error) {
        RunEnd.abort(d, reason.wire(), task, reason != RetryReason.INSUFFICIENT_CREDITS ? error
                : new StepError("INSUFFICIENT_CREDITS", ErrorClass.PERMANENT,
                        "the workspace cannot pay for another try after: " + error.message()));
    }
}
