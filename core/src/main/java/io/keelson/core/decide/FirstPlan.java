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
 * The plan of a run that was given a goal and no plan. While the run is {@code planning} its planner is at work, on a
 * task like any other; an answer that is no plan goes back to it with what is wrong, twice at most, unless only an operator
 * can put that right.
 */
final class FirstPlan {
    /** The first answer, and two repairs of it. */
    private static final int TRIES = 3;
    private static final String CODE = "PLANNING_FAILED";

    private FirstPlan() {}

    /** True of a run that has no plan as yet. */
    static boolean missing(Decision d) {
        return d.view.requirePlan().version() == 0;
    }

    /** True while the planner is at work on it, or its answer is looked at. */
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

    /** The planner's answer is a plan: it is carried out, or waits for a human where its estimate wants one. */
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
     * No plan came of it: another try while there are tries, or the run fails. It fails at once where only an operator can
     * help, who sets a price and retries the run.
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
