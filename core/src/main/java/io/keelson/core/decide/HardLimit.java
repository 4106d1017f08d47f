package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Amounts;
import io.keelson.core.plan.StepKind;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.RunPayload;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * What a run's hard limit leaves and holds back (specification, money §1): a step begins only where what it is known to cost
 * is left, and the run stops when nothing is out and nothing can begin.
 */
final class HardLimit {

    private HardLimit() {}

    /** What may be set aside beyond what is; null for as much as there is. */
    static @Nullable BigDecimal room(RunRow run) {
        BigDecimal limit = Credits.hardLimit(run);
        return limit == null ? null : limit.subtract(run.chargedBefore).subtract(run.reserved);
    }

    static BigDecimal within(RunRow run, BigDecimal amount) {
        BigDecimal room = room(run);
        return room == null ? amount : amount.min(room).max(Amounts.ZERO);
    }

    /** Of an amount, what the hard limit leaves beside the runs that this one has started. */
    static BigDecimal besideChildren(Decision d, BigDecimal amount) {
        BigDecimal limit = Credits.hardLimit(d.run);
        return limit == null || d.view.children.isEmpty() ? amount
                : limit.subtract(Credits.charged(d.run)).subtract(Credits.childrenTake(d)).max(Amounts.ZERO);
    }

    /** What a run that it starts may cost at most; null for as much as there is. */
    static @Nullable BigDecimal roomForChild(Decision d) {
        BigDecimal limit = Credits.hardLimit(d.run);
        return limit == null ? null
                : limit.subtract(Credits.charged(d.run)).subtract(Credits.childrenTake(d)).subtract(out(d));
    }

    /** True when the run's limit leaves nothing for a run that it is to start. */
    static boolean holdsBackChild(Decision d) {
        BigDecimal room = roomForChild(d);
        boolean nothing = room != null && room.signum() <= 0;
        d.heldBack |= nothing;
        return nothing;
    }

    /** True when the run's limit does not allow the step to begin: it waits until what is out has ended. */
    static boolean holdsBack(Decision d, StepRow step) {
        boolean held = Credits.hardLimit(d.run) != null && !FirstPlan.underWay(d)
                && !allows(d, d.funds.prices().known(step.spec().tool()));
        d.heldBack |= held;
        return held;
    }

    /** The same of the step that a queued task would begin with. */
    static boolean holdsBack(Decision d, TaskRow task) {
        return Credits.hardLimit(d.run) != null && !FirstPlan.underWay(d)
                && task.steps.stream().filter(step -> !step.state.terminal()).findFirst()
                        .filter(step -> step.spec().kind() == StepKind.RUN ? holdsBackChild(d)
                                : !step.spec().kind().engineOwned() && holdsBack(d, step))
                        .isPresent();
    }

    /** Whether so much may be begun beside what is out: what that is known to cost counts as charged. */
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

    /** What the steps that are queued or running are known to cost. */
    private static BigDecimal out(Decision d) {
        return d.funds.prices().tools().isEmpty() ? Amounts.ZERO
                : d.view.steps.values().stream().filter(step -> step.queued)
                        .map(step -> d.funds.prices().known(step.spec().tool())).reduce(Amounts.ZERO, BigDecimal::add);
    }

    /** A report's cost is charged: where it could not be collected, or others wait for what is used up, the run stops. */
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

    /** Stops a run that goes on after it was held up, where that alone has kept it from being stopped. */
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
     * After a decision: when nothing is out, what was held back is begun if by now there is enough left for it, and if there
     * is not the run is stopped; not while children that have ended may yet turn out to have cost less.
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

    /** As in a pause, what is in flight may finish and is recorded. A run that is held up already stays as it is. */
    private static void stop(Decision d, String reason) {
        if (d.carriedOut()) {
            BigDecimal charged = Credits.charged(d.run);
            d.move(RunState.BUDGET_EXCEEDED, new RunPayload.BudgetExceeded(charged, Credits.hardLimit(d.run), reason,
                    charged, d.run.uncollected));
            HumanGates.rest(d);
        }
    }

    /** Stops a run whose planner has cost more than could be collected, before anything else of it begins. */
    static boolean stopped(Decision d) {
        if (d.run.uncollected.signum() > 0) {
            stop(d, "the cost of making the plan could not be collected");
        }
        return d.run.state == RunState.BUDGET_EXCEEDED;
    }
}
