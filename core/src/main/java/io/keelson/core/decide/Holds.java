package io.keelson.core.decide;

import io.keelson.core.money.Amounts;
import io.keelson.core.money.Prices;
import io.keelson.core.money.Prices.ModelPrice;
import io.keelson.core.money.WorstCase;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.run.Reply;
import java.math.BigDecimal;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Holds the cost of a step's worst case from its claim to the end of its lease, so that charges and holds together never
 * exceed the reservation, the run's hard limit and the budget of the task. A step that does not fit beside other holds
 * waits for their end. A step that does not fit alone is given fewer tokens of output, at least {@link #LEAST_OUTPUT}.
 */
final class Holds {
    /** Tokens of output below which a step does not begin, unless its worst case has fewer. */
    static final long LEAST_OUTPUT = 256;

    private Holds() {}

    /** True when the cost of the step's worst case is known. */
    static boolean hasKnownCost(Decision d, StepSpec step) {
        return price(d.funds.prices(), step) != null;
    }

    private static @Nullable ModelPrice price(Prices prices, StepSpec step) {
        WorstCase worst = step.worstCase();
        return worst == null ? null : prices.models().get(worst.model());
    }

    /** The cost that a step in flight counts: its hold, or the price of its tool, and the holds of its requests. */
    static BigDecimal countedCost(Prices prices, StepRow step) {
        BigDecimal own = step.queued || step.kept != null ? ownCost(prices, step) : Amounts.ZERO;
        return step.requests.values().stream().map(OpenRequest::held).reduce(own, BigDecimal::add);
    }

    private static BigDecimal ownCost(Prices prices, StepRow step) {
        return step.kept != null ? step.kept.amount()
                : step.hold != null ? step.hold.amount()
                        : price(prices, step.spec()) != null ? Amounts.ZERO : prices.toolPrice(step.spec().tool());
    }

    /**
     * The least rest of the limits with which a step is executed again after the refusal of a request: the cost of the request and
     * the highest cost of the step.
     */
    static BigDecimal againCost(Prices prices, StepSpec step, BigDecimal needed) {
        WorstCase worst = step.worstCase();
        return needed.add(worst == null ? prices.toolPrice(step.tool()) : cost(prices, step, worst.maxOutput()));
    }

    /** The least that a limit must leave for the step to begin. */
    static BigDecimal leastCost(Decision d, StepSpec step) {
        return leastCost(d.funds.prices(), step);
    }

    static BigDecimal leastCost(Prices prices, StepSpec step) {
        WorstCase worst = step.worstCase();
        return worst == null ? prices.toolPrice(step.tool())
                : cost(prices, step, Math.min(worst.maxOutput(), LEAST_OUTPUT));
    }

    /** The highest cost of the step with so many tokens of output: by its tokens, or by the price of its tool. */
    private static BigDecimal cost(Prices prices, StepSpec step, long output) {
        BigDecimal ofTool = prices.toolPrice(step.tool());
        WorstCase worst = step.worstCase();
        ModelPrice price = worst == null ? null : prices.models().get(worst.model());
        return worst == null || price == null ? ofTool : price.usd().atMost(worst.maxInput(), output).max(ofTool);
    }

    private static BigDecimal most(Decision d, StepSpec step) {
        return cost(d.funds.prices(), step, Objects.requireNonNull(step.worstCase()).maxOutput());
    }

    /** True when the limits or the credits do not pay a refused request. */
    static boolean holdBack(Decision d, StepRow step, BigDecimal needed) {
        Prices prices = d.funds.prices();
        BigDecimal counted = step.queued ? ownCost(prices, step) : Amounts.ZERO;
        BigDecimal cost = againCost(prices, step.spec(), needed).subtract(counted);
        boolean within = HardLimit.allows(HardLimit.run(d), cost);
        boolean paid = within && Credits.pays(d, cost);
        d.heldBackByMonth |= within && !paid && Credits.withheld(d, cost);
        return HardLimit.markHeldBack(d, step.task(), !within || !paid,
                !HardLimit.allows(HardLimit.task(d, step.task().planKey()), cost));
    }

    /** True when the limits or the credits do not pay the step now. */
    static boolean holdBack(Decision d, StepRow step) {
        if (step.kept != null) {
            return false;
        }
        String task = step.task().planKey();
        boolean othersOfRun = d.view.held.signum() > 0
                || HardLimit.limit(d.run) != null && ChildLinks.open(d.view);
        boolean othersOfTask = HardLimit.out(d, task).signum() > 0;
        BigDecimal ofRun = othersOfRun ? most(d, step.spec()) : leastCost(d, step.spec());
        BigDecimal ofTask = othersOfTask ? most(d, step.spec()) : leastCost(d, step.spec());
        boolean within = HardLimit.allows(HardLimit.run(d), ofRun);
        boolean paid = Credits.coverable(d, ofRun).compareTo(ofRun) >= 0;
        d.heldBackByMonth |= within && !paid && Credits.withheld(d, ofRun);
        return HardLimit.markHeldBack(d, step.task(), !within || !paid,
                !HardLimit.allows(HardLimit.task(d, task), ofTask));
    }

    /** Holds the step's worst case, with as much output as the limits and the credits pay; nothing without a price. */
    static void take(Decision d, StepRow step) {
        WorstCase worst = step.spec().worstCase();
        ModelPrice price = price(d.funds.prices(), step.spec());
        if (step.kept != null) {
            step.hold = step.kept;
            step.kept = null;
            return;
        }
        if (worst == null || price == null) {
            return;
        }
        BigDecimal most = most(d, step.spec());
        BigDecimal room = room(HardLimit.run(d), room(HardLimit.task(d, step.task().planKey()), most));
        BigDecimal paid = Amounts.exact(Credits.cover(d, room));
        long output = paid.compareTo(most) >= 0 ? worst.maxOutput()
                : price.usd().output(paid, worst.maxInput(), worst.maxOutput());
        step.hold = new Hold(paid, Math.max(output, Math.min(worst.maxOutput(), LEAST_OUTPUT)), false);
        d.view.held = d.view.held.add(paid);
    }

    /**
     * Replaces the step's hold by the worst case that its executor computed. A worst case of the plan stays, and so
     * does a larger hold of a request that may have been billed.
     *
     * @param begun whether the step keeps its hold if the larger one exceeds the limits
     * @return false if the limits or the credits do not cover it now
     */
    static boolean computed(Decision d, StepRow step, WorstCase most, boolean begun) {
        StepSpec before = step.spec();
        if (before.worstCase() != null && !before.worstCase().computed()) {
            return true;
        }
        Hold held = step.hold;
        boolean owing = !begun && held != null && held.requested();
        if (held != null) {
            d.view.held = d.view.held.subtract(held.amount());
            step.hold = null;
        }
        bound(d, step, before.within(most));
        boolean pays = begun ? pays(d, step, most(d, step.spec()))
                : d.planning() ? pays(d, step, leastCost(d, step.spec())) : !HardLimit.holdsBack(d, step);
        if (pays) {
            take(d, step);
            Hold taken = step.hold;
            if (!owing || held == null || taken == null || taken.amount().compareTo(held.amount()) >= 0) {
                return true;
            }
            d.view.held = d.view.held.subtract(taken.amount());
        }
        if (held != null) {
            step.hold = held;
            d.view.held = d.view.held.add(held.amount());
        }
        if (begun || owing) {
            bound(d, step, before);
        }
        return owing;
    }

    /** Why {@link #computed} was false, and which command helps. */
    static Reply.Rejected unpaid(Decision d, StepRow step, WorstCase most, boolean begun) {
        BigDecimal cost = begun ? most(d, step.spec().within(most)) : leastCost(d, step.spec());
        BigDecimal own = step.hold == null ? Amounts.ZERO : step.hold.amount();
        String task = step.task().planKey();
        BigDecimal ofRun = left(HardLimit.run(d), own);
        BigDecimal ofTask = left(HardLimit.task(d, task), own);
        String raise = ": raise it with `keelson budget " + d.run.id();
        return Reply.rejected("CREDITS_HELD", "the next request may cost " + Amounts.credits(cost) + ", and "
                + (ofRun != null && cost.compareTo(ofRun) > 0
                        ? "the run's hard limit of " + Amounts.text(Objects.requireNonNull(HardLimit.limit(d.run)))
                                + " leaves " + Amounts.text(ofRun) + raise + " --hard-limit CREDITS`"
                        : ofTask != null && cost.compareTo(ofTask) > 0
                                ? "the budget of "
                                        + Amounts.text(Objects.requireNonNull(d.view.budgets.get(task)).limit())
                                        + " of task " + task
                                        + " leaves " + Amounts.text(ofTask) + raise + " --task " + task
                                        + "=CREDITS`"
                                : "the workspace's credits do not pay it: grant some with `keelson credits grant AMOUNT`"));
    }

    /** The rest of a limit for a hold that replaces the step's own; null for no limit. */
    private static @Nullable BigDecimal left(HardLimit.@Nullable Scope scope, BigDecimal own) {
        return scope == null ? null : scope.room().add(own).max(Amounts.ZERO);
    }

    /** Forgets worst cases that executions have computed: further ones compute their own. */
    static void compute(Decision d) {
        d.view.steps.values().stream().filter(step -> !step.state.terminal() && step.hold == null && step.kept == null
                && step.spec().worstCase() != null && step.spec().worstCase().computed()).forEach(step -> {
                    bound(d, step, step.spec().asPlanned());
                    d.changes.touch(step);
                });
    }

    private static void bound(Decision d, StepRow step, StepSpec within) {
        d.view.worstCases += (within.worstCase() == null ? 0 : 1) - (step.spec().worstCase() == null ? 0 : 1);
        step.bound(within);
    }

    private static boolean pays(Decision d, StepRow step, BigDecimal cost) {
        return HardLimit.allows(HardLimit.run(d), cost)
                && HardLimit.allows(HardLimit.task(d, step.task().planKey()), cost)
                && Credits.coverable(d, cost).compareTo(cost) >= 0;
    }

    private static BigDecimal room(HardLimit.@Nullable Scope scope, BigDecimal most) {
        return scope == null ? most : most.min(scope.room()).max(Amounts.ZERO);
    }

    /** A part of the hold is charged. */
    static void use(Decision d, StepRow step, BigDecimal amount) {
        if (step.hold != null) {
            Hold rest = step.hold.without(amount);
            d.view.held = d.view.held.subtract(step.hold.amount()).add(rest.amount());
            step.hold = rest;
        }
    }

    /** The lease has ended, and its hold stays for an answer that the next execution of the step fetches. */
    static void keep(Decision d, StepRow step, Hold hold) {
        step.kept = hold;
        d.view.held = d.view.held.add(hold.amount());
        d.changes.touch(step);
    }

    /** Nothing fetches the answer any more. */
    static void release(Decision d, StepRow step) {
        if (step.kept != null) {
            d.view.held = d.view.held.subtract(step.kept.amount());
            d.holdEnded = true;
            step.kept = null;
        }
    }

    /** The lease has ended: its hold is free for others. */
    static void drop(Decision d, StepRow step) {
        if (step.hold != null) {
            d.view.held = d.view.held.subtract(step.hold.amount());
            d.holdEnded = true;
            step.hold = null;
        }
    }
}
