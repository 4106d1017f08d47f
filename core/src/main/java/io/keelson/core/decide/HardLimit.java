package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Amounts;
import io.keelson.core.plan.StepKind;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.RunPayload;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * Enforces a run's hard limit. A step begins only while the limit leaves its known cost. The
 * run stops when no step is in flight and none can begin.
 */
final class HardLimit {

    private HardLimit() {}

    /** Credits that may still be reserved; null for no limit. */
    static @Nullable BigDecimal room(RunRow run) {
        BigDecimal limit = Credits.hardLimit(run);
        return limit == null ? null : limit.subtract(run.chargedBefore).subtract(run.reserved);
    }

    static BigDecimal within(RunRow run, BigDecimal amount) {
        BigDecimal room = room(run);
        return room == null ? amount : amount.min(room).max(Amounts.ZERO);
    }

    /** The part of an amount that the hard limit leaves beside the run's children. */
    static BigDecimal besideChildren(Decision d, BigDecimal amount) {
        BigDecimal limit = Credits.hardLimit(d.run);
        return limit == null || d.view.children.isEmpty() ? amount
                : limit.subtract(Credits.charged(d.run)).subtract(Credits.childrenTake(d)).max(Amounts.ZERO);
    }

    /** Maximum cost of a new child run; null for no limit. */
    static @Nullable BigDecimal roomForChild(Decision d) {
        BigDecimal limit = Credits.hardLimit(d.run);
        return limit == null ? null
                : limit.subtract(Credits.charged(d.run)).subtract(Credits.childrenTake(d)).subtract(out(d));
    }

    /** True when the limit leaves nothing for a new child run. */
    static boolean holdsBackChild(Decision d) {
        BigDecimal room = roomForChild(d);
        boolean nothing = room != null && room.signum() <= 0;
        d.heldBack |= nothing;
        return nothing;
    }

    /** True when the limit does not allow the step to begin: it waits until the steps in flight have ended. */
    static boolean holdsBack(Decision d, StepRow step) {
        boolean held = Credits.hardLimit(d.run) != null && !FirstPlan.underWay(d)
                && !allows(d, d.funds.prices().known(step.spec().tool()));
        d.heldBack |= held;
        return held;
    }

    /** The same for the first step of a queued task. */
    static boolean holdsBack(Decision d, TaskRow task) {
        return Credits.hardLimit(d.run) != null && !FirstPlan.underWay(d)
                && task.steps.stream().filter(step -> !step.state.terminal()).findFirst()
                        .filter(step -> step.spec().kind() == StepKind.RUN ? holdsBackChild(d)
                                : !step.spec().kind().engineOwned() && holdsBack(d, step))
                        .isPresent();
    }

    /** Whether so much fits beside the steps in flight, whose known cost counts as charged. */
    private static boolean allows(Decision d, BigDecimal more) {
        BigDecimal limit = Credits.hardLimit(d.run);
        BigDecimal charged = Credits.charged(d.run).add(Credits.childrenTake(d));
        if (limit == null) {
            return true;
        }
        if (charged.signum() > 0 && charged.compareTo(limit) >= 0) {
            return false;
        }
        BigDecimal known = more.add(out(d));
        return known.signum() == 0 || charged.add(known).compareTo(limit) <= 0;
    }

    /** The known cost of queued and running steps. */
    private static BigDecimal out(Decision d) {
        return d.funds.prices().tools().isEmpty() ? Amounts.ZERO
                : d.view.steps.values().stream().filter(step -> step.queued)
                        .map(step -> d.funds.prices().known(step.spec().tool())).reduce(Amounts.ZERO, BigDecimal::add);
    }

    /** After a charge: stops the run if the cost could not be collected, or if others wait for used-up credits. */
    static void afterCharge(Decision d, PayloadPart.@Nullable Spent spent) {
        if (spent != null && spent.uncollected() != null) {
            notCollected(d);
        } else if (spent != null && spent.charged() != null && Credits.hardLimit(d.run) != null
                && !ChildRuns.open(d.view)
                && tooMuchIsQueued(d)) {
            stop(d, "the hard limit leaves nothing for the steps that wait");
        }
    }

    private static void notCollected(Decision d) {
        stop(d, "the cost of a step could not be collected");
    }

    /** Stops a run that resumes, if only its pause has kept it from being stopped. */
    static boolean stopsNow(Decision d) {
        if (Credits.overdrawn(d.run)) {
            notCollected(d);
        }
        return d.run.state == RunState.BUDGET_EXCEEDED;
    }

    private static boolean tooMuchIsQueued(Decision d) {
        return d.view.steps.values().stream().anyMatch(step -> step.queued && !step.held()) && !allows(d, Amounts.ZERO);
    }

    /**
     * After a decision, when no step is in flight: starts held-back work if the limit now allows it, else stops the
     * run; not while ended children may yet turn out to have cost less.
     */
    static void after(Decision d) {
        if (d.carriedOut() && Credits.hardLimit(d.run) != null && nothingIsQueued(d)
                && d.view.children.values().stream().allMatch(ChildRow::over)) {
            d.heldBack = false;
            SlotScheduling.goOn(d);
            if (d.heldBack && nothingIsQueued(d) && !ChildRuns.open(d.view)) {
                stop(d, "the hard limit does not leave what the next step costs");
            }
        }
    }

    private static boolean nothingIsQueued(Decision d) {
        return d.view.steps.values().stream().noneMatch(step -> step.queued);
    }

    /**
     * Stops the run like a pause: work in flight may finish and is recorded. A run that is already held up does not
     * change.
     */
    private static void stop(Decision d, String reason) {
        if (d.carriedOut()) {
            BigDecimal charged = Credits.charged(d.run);
            d.move(RunState.BUDGET_EXCEEDED, new RunPayload.BudgetExceeded(charged, Credits.hardLimit(d.run), reason,
                    charged, d.run.uncollected));
            HumanGates.rest(d);
        }
    }

    /** Stops a run whose planner cost more than could be collected, before anything else begins. */
    static boolean stopped(Decision d) {
        if (d.run.uncollected.signum() > 0) {
            stop(d, "the cost of making the plan could not be collected");
        }
        return d.run.state == RunState.BUDGET_EXCEEDED;
    }
}
