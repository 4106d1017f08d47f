package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command.Evaluation.Planned;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.StepError;
import java.math.BigDecimal;
import java.util.Map;
import java.util.Objects;

/**
 * The plan of a run that has only a goal. While the run is {@code planning}, its planner works on an ordinary task. An
 * invalid plan is returned to the planner with its problems, at most twice, unless only an operator can fix it.
 */
final class FirstPlan {
    /** The first answer and two repairs. */
    private static final int TRIES = 3;
    private static final String CODE = "PLANNING_FAILED";

    private FirstPlan() {}

    /** True for a run that has no plan yet. */
    static boolean missing(Decision d) {
        return d.view.requirePlan().version() == 0;
    }

    /** True while the planner works or its answer is checked. */
    static boolean underWay(Decision d) {
        return d.run.state == RunState.PLANNING;
    }

    /** {@code pending} → {@code planning}. */
    static void begin(Decision d) {
        d.move(RunState.PLANNING, new RunPayload.PlanningStarted(d.run.policy().failures().models().planner()));
        Planning.recordAttempt(d, Credits.open(d.run));
        ask(d);
    }

    private static void ask(Decision d) {
        StepSpec planner = Objects.requireNonNull(d.run.policy().failures().planner());
        d.run.replans++;
        d.run.gate = RunRow.Gate.REPLANNING;
        Completion.queue(d, Planning.addSystemTask(d, SystemTasks.firstPlan(planner, d.run.replans)));
    }

    /** The planner's answer is a valid plan: it is executed, or waits for a human if its estimate requires that. */
    static void planned(Decision d, Planned answer) {
        d.run.gate = RunRow.Gate.NONE;
        d.run.replans = 0;
        d.run.planVersion = answer.plan().version();
        d.view.plan = answer.plan();
        d.changes.plan(d.run, answer.json());
        Planning.spawnMissing(d, answer.plan(), Map.of());
        Planning.hooks(d, Map.of());
        Planned.Terms terms = answer.terms();
        BigDecimal estimate = terms.budget().estimate(d.funds.prices());
        Credits.provideFor(d, estimate);
        Planning.open(d, new RunPayload.PlanReady(answer.plan().tasks().size(), estimate.stripTrailingZeros(),
                answer.plan().strategy(), d.run.planVersion,
                terms.threshold() == null ? null : terms.threshold().stripTrailingZeros()), terms.asks(estimate));
    }

    /**
     * The planner failed: retries while there are tries, or fails the run. Fails it at once where only an operator can
     * help, by setting a price and retrying the run.
     */
    static void refused(Decision d, StepError error) {
        int tries = d.run.replans;
        d.note(new RunPayload.PlanningRefused(tries, error.code(), error.message()));
        if (error.code().equals(Replanning.NO_PRICE)) {
            d.run.gate = RunRow.Gate.NONE;
            Failures.abort(d, "no_price", null, error);
        } else if (tries < TRIES) {
            ask(d);
        } else {
            d.run.gate = RunRow.Gate.NONE;
            Failures.abort(d, "planning_failed", null, new StepError(CODE, ErrorClass.QUALITY,
                    "no plan came of " + tries + " tries; the last: " + error.message() + " (" + error.code() + ")"));
        }
    }
}
