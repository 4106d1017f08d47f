package io.keelson.core.decide;

import io.keelson.core.money.Amounts;
import io.keelson.core.money.Prices;
import java.math.BigDecimal;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The rest of a run's hard limit and of the budgets of its tasks. A step begins only while both leave its known cost. {@link
 * LimitStop} stops the run when no step can begin.
 */
final class HardLimit {
    private HardLimit() {}

    /** Maximum cost of all attempts together; null for no limit. */
    static @Nullable BigDecimal limit(RunRow run) {
        return run.hardLimit != null ? run.hardLimit : run.policy().budget().hardLimit();
    }

    /** The charges of all attempts so far. */
    static BigDecimal charged(RunRow run) {
        return run.chargedBefore.add(run.charged);
    }

    /** The collected cost of all attempts so far, before its rounding. */
    static BigDecimal usedCredits(RunRow run) {
        return charged(run).add(run.remainder);
    }

    /** Credits that may still be reserved; null for no limit. */
    static @Nullable BigDecimal room(RunRow run) {
        BigDecimal limit = limit(run);
        return limit == null ? null : limit.subtract(run.chargedBefore).subtract(run.reserved);
    }

    static BigDecimal within(RunRow run, BigDecimal amount) {
        BigDecimal room = room(run);
        return room == null ? amount : amount.min(room).max(Amounts.ZERO);
    }

    /** The part of an amount that the hard limit leaves beside the run's children. */
    static BigDecimal besideChildren(Decision d, BigDecimal amount) {
        BigDecimal limit = limit(d.run);
        return limit == null || d.view.children.isEmpty() ? amount
                : limit.subtract(usedCredits(d.run)).subtract(childrenTake(d)).subtract(d.view.held).max(Amounts.ZERO);
    }

    /**
     * A limit of the run or of one of its tasks.
     *
     * @param charged what counts towards it: the collected cost, before its rounding, and what children may cost
     * @param out the known cost of its steps in flight
     */
    record Scope(BigDecimal limit, BigDecimal charged, BigDecimal out) {

        BigDecimal room() {
            return limit.subtract(charged).subtract(out);
        }

        /** Whether so much fits beside the steps in flight, whose known cost counts as charged. */
        boolean allows(BigDecimal more) {
            if (charged.signum() > 0 && charged.compareTo(limit) >= 0) {
                return false;
            }
            BigDecimal known = more.add(out);
            return known.signum() == 0 || charged.add(known).compareTo(limit) <= 0;
        }
    }

    /** The known cost of the run's steps in flight. */
    static BigDecimal out(Decision d) {
        return out(d, step -> true);
    }

    /**
     * The known cost of a task's steps in flight.
     *
     * @param task the task's id in the plan
     */
    static BigDecimal out(Decision d, String task) {
        return out(d, step -> of(task, step.task()));
    }

    static @Nullable Scope run(Decision d) {
        BigDecimal limit = limit(d.run);
        return limit == null ? null
                : new Scope(limit, usedCredits(d.run).add(childrenTake(d)), out(d));
    }

    /** The run's limit if its open children cost no more than they have so far. */
    static @Nullable Scope atLeast(Decision d) {
        BigDecimal limit = limit(d.run);
        return limit == null ? null
                : new Scope(limit, d.view.children.values().stream().filter(ChildRow::ended).map(ChildRow::charged)
                        .reduce(usedCredits(d.run), BigDecimal::add), out(d));
    }

    /** @param task id in the plan */
    static @Nullable Scope task(Decision d, String task) {
        TaskBudgetRow budget = d.view.budgets.get(task);
        return budget == null ? null
                : new Scope(budget.limit(), usedCredits(d.view, budget), out(d, task));
    }

    static boolean of(String task, TaskRow row) {
        return row.planKey().equals(task);
    }

    static boolean allows(@Nullable Scope scope, BigDecimal more) {
        return scope == null || scope.allows(more);
    }

    /** True when the run has a limit, a step with a worst case or with a refused request, or the task a budget. */
    static boolean mayHoldBack(Decision d, TaskRow task) {
        return limit(d.run) != null || d.view.worstCases > 0 || d.view.refused > 0
                || d.view.budgets.containsKey(task.planKey());
    }

    /**
     * Maximum cost of a new child run; null for no limit.
     *
     * @param task that starts it, by its id in the plan
     */
    static @Nullable BigDecimal roomForChild(Decision d, String task) {
        Scope run = run(d);
        Scope own = task(d, task);
        return run == null ? own == null ? null : own.room() : own == null ? run.room() : run.room().min(own.room());
    }

    /** True when a limit leaves nothing for a new child run. */
    static boolean holdsBackChild(Decision d, TaskRow task) {
        Scope run = run(d);
        Scope own = task(d, task.planKey());
        return markHeldBack(d, task, run != null && run.room().signum() <= 0, own != null && own.room().signum() <= 0);
    }

    /** True when a limit does not allow the step to begin: it waits until the steps in flight have ended. */
    static boolean holdsBack(Decision d, StepRow step) {
        BigDecimal needed = step.needed();
        if (needed != null) {
            return Holds.holdBack(d, step, needed);
        }
        if (Holds.hasKnownCost(d, step.spec())) {
            return !d.planning() && Holds.holdBack(d, step);
        }
        if (!mayHoldBack(d, step.task()) || d.planning()) {
            return false;
        }
        BigDecimal cost = d.funds.prices().toolPrice(step.spec().tool());
        return markHeldBack(d, step.task(), !allows(run(d), cost), !allows(task(d, step.task().planKey()), cost));
    }

    static boolean markHeldBack(Decision d, TaskRow task, boolean byRun, boolean byTask) {
        d.heldBack |= byRun;
        if (byTask) {
            d.budgets.add(task.planKey());
        }
        return byRun || byTask;
    }

    /** Whether a limit holds back the first open step of a queued task. */
    static boolean holdsBack(Decision d, TaskRow task) {
        return mayHoldBack(d, task) && !d.planning()
                && task.steps.stream().filter(step -> !step.state.terminal()).findFirst()
                        .filter(step -> step.spec().startsRun() ? holdsBackChild(d, task)
                                : !step.spec().engineOwned() && holdsBack(d, step))
                        .isPresent();
    }

    /** The known cost of queued and running steps. */
    static BigDecimal out(Decision d, Predicate<StepRow> which) {
        return out(d.view, d.funds.prices(), which);
    }

    static BigDecimal out(RunView view, Prices prices, Predicate<StepRow> which) {
        return prices.tools().isEmpty() && view.held.signum() == 0 ? Amounts.ZERO
                : view.steps.values().stream().filter(
                        step -> (step.queued || step.kept != null || !step.requests.isEmpty()) && which.test(step))
                        .map(step -> Holds.countedCost(prices, step)).reduce(Amounts.ZERO, BigDecimal::add);
    }

    /** Charges and budgets of the run's children. */
    static BigDecimal childrenTake(Decision d) {
        return childrenTake(d.view);
    }

    static BigDecimal childrenTake(RunView view) {
        return view.children.values().stream().map(ChildRow::shareOfLimit).reduce(Amounts.ZERO, BigDecimal::add);
    }

    /** Charges and budgets of the children that steps of a task have started. */
    static BigDecimal childrenTake(RunView view, String task) {
        return view.children.values().stream().filter(child -> child.task().equals(task)).map(ChildRow::shareOfLimit)
                .reduce(Amounts.ZERO, BigDecimal::add);
    }

    /** Credits that count towards the budget: its charges, and those and the allotments of its child runs. */
    static BigDecimal usedCredits(RunView view, TaskBudgetRow budget) {
        return budget.charged().add(childrenTake(view, budget.task()));
    }
}
