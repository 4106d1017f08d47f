package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.StepError;
import java.util.Objects;

/**
 * Asks for the plan of a run that has only a goal. While the run is {@code planning}, its planner works on an ordinary task. An
 * invalid plan is returned to the planner with its problems, at most twice, unless only an operator can fix it.
 */
final class FirstPlan {
    /** The error of a valid plan whose models have no price, which a planner cannot fix. */
    static final String NO_PRICE = "NO_PRICE";
    /** The first answer and two repairs. */
    private static final int TRIES = 3;
    private static final String CODE = "PLANNING_FAILED";

    private FirstPlan() {}

    /** True for a run that has no plan yet. */
    static boolean missing(Decision d) {
        return d.view.requirePlan().version() == 0;
    }

    /** {@code pending} → {@code planning}. */
    static void begin(Decision d) {
        d.move(RunState.PLANNING, new RunPayload.PlanningStarted(d.run.policy().failures().models().planner()));
        d.recordAttempt();
        requestPlan(d);
    }

    private static void requestPlan(Decision d) {
        StepSpec planner = Objects.requireNonNull(d.run.policy().failures().planner());
        d.run.replans++;
        d.run.gate = RunRow.Gate.REPLANNING;
        TaskMoves.queue(d, PlanRows.addSystemTask(d, SystemTasks.firstPlan(planner, d.run.replans)));
    }

    /**
     * The planner failed: retries while there are tries, or fails the run. Fails it at once where only an operator can
     * help, by setting a price and retrying the run.
     */
    static void retryOrFail(Decision d, StepError error) {
        int tries = d.run.replans;
        d.note(new RunPayload.PlanningRefused(tries, error.code(), error.message()));
        if (error.code().equals(NO_PRICE)) {
            d.run.gate = RunRow.Gate.NONE;
            RunEnd.abort(d, "no_price", null, error);
        } else if (tries < TRIES) {
            requestPlan(d);
        } else {
            d.run.gate = RunRow.Gate.NONE;
            RunEnd.abort(d, "planning_failed", null, new StepError(CODE, ErrorClass.QUALITY,
                    "no plan came of " + tries + " tries; the last: " + error.message() + " (" + error.code() + ")"));
        }
    }
}
