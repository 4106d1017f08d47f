package io.keelson.core.decide;

import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.Rung;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TaskPayload;
import java.util.List;

/**
 * The ladder of a task that its own retries did not help: another agent, another model, a new plan, a person. A rung gives the
 * task one attempt more, if the budget pays for it. The turn that a rung has put in place names the rung in force. The
 * rungs before it are other models for the task's own retries.
 */
final class Ladder {
    /** The reason of the tickets that it opens. */
    static final String REASON = "ladder";

    private Ladder() {}

    /**
     * A task has failed, and its retries are used up: takes the next rung that is possible.
     *
     * @return false where there is none: the failure is final
     */
    static boolean climb(Decision d, TaskRow task, StepError error, PayloadPart.Failure failure) {
        List<Rung> rungs = task.spec().policy().ladder();
        if (rungs.isEmpty() || error.errorClass() == ErrorClass.HUMAN_REJECTION || d.run.failing || !d.atWork()
                || task.state != TaskState.RUNNING && task.state != TaskState.VERIFYING) {
            return false;
        }
        for (int number = Rungs.takenRungs(task) + 1; number <= rungs.size(); number++) {
            Rung rung = rungs.get(number - 1);
            if (rung.to() == Rung.To.FAIL) {
                return false;
            }
            boolean taken = switch (rung.to()) {
                case AGENT, MODEL ->
                    rung.turn() != null && repeatWith(d, task, number, rung, rung.turn(), error, failure);
                case REPLAN -> replan(d, task, number, rung, error, failure);
                case HUMAN -> ask(d, task, number, rung, error, failure);
                case RETRY, FAIL -> false;
            };
            if (taken) {
                return true;
            }
        }
        return false;
    }

    private static boolean repeatWith(Decision d, TaskRow task, int number, Rung rung, StepSpec turn, StepError error,
            PayloadPart.Failure failure) {
        boolean payable = RetryModels.payable(d, task, turn);
        RetryModels.reached(d, task, number, rung, payable, error.code());
        if (!payable) {
            return false;
        }
        task.grantedRetries = Math.max(task.grantedRetries, task.attempt + 1 - TaskFailures.tries(d, task));
        retry(d, task, error, failure, false);
        AttemptRestarts.withTurn(d, task, turn);
        return true;
    }

    private static boolean replan(Decision d, TaskRow task, int number, Rung rung, StepError error,
            PayloadPart.Failure failure) {
        if (!Replanning.possible(d) || Replanning.underWay(d) || task.group() != null) {
            return false;
        }
        RetryModels.reached(d, task, number, rung, true, error.code());
        Propagation.replan(d, task, error, failure);
        return true;
    }

    private static boolean ask(Decision d, TaskRow task, int number, Rung rung, StepError error,
            PayloadPart.Failure failure) {
        RetryModels.reached(d, task, number, rung, true, error.code());
        retry(d, task, error, failure, true);
        Tickets.failure(d, task, null, error, REASON);
        return true;
    }

    private static void retry(Decision d, TaskRow task, StepError error, PayloadPart.Failure failure, boolean parked) {
        TaskMoves.cancelSteps(d, task);
        task.errorCode = error.code();
        task.errorMessage = error.message();
        task.errorClass = error.errorClass().wire();
        TaskFailures.awaitRetry(d, task, parked ? null : d.now, task.state == TaskState.VERIFYING
                ? new TaskPayload.VerificationFailed(task.verifierScore, error.message(), 1, failure)
                : EventPayloads.retrying(task, 0, failure));
    }
}
