package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.Prices;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.RunPayload;
import java.math.BigDecimal;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Stops a run at its limits, and starts held-back work again. The run stops when no step is in flight and none can
 * begin. It also stops when a task with a budget has no step in flight and cannot begin its next step.
 */
final class LimitStop {
    private LimitStop() {}

    /** After a charge: stops the run if the cost could not be collected, or if others wait for used-up credits. */
    static void afterCharge(Decision d, PayloadPart.@Nullable Spent spent) {
        if (spent != null && spent.uncollected() != null) {
            notCollected(d);
        } else if (spent != null && spent.charged() != null && HardLimit.limit(d.run) != null
                && tooMuchIsQueued(d)) {
            stop(d, "the hard limit leaves nothing for the steps that wait");
        }
    }

    private static void notCollected(Decision d) {
        stop(d, "the cost of a step could not be collected");
    }

    /** Stops a run that resumes, if only its pause has kept it from being stopped. */
    static boolean stopsNow(Decision d) {
        if (Credits.overdrawn(d)) {
            notCollected(d);
        }
        return d.run.state == RunState.BUDGET_EXCEEDED;
    }

    private static boolean tooMuchIsQueued(Decision d) {
        return unclaimed(d, step -> true) && !HardLimit.allows(HardLimit.atLeast(d), Amounts.ZERO);
    }

    private static boolean unclaimed(Decision d, Predicate<StepRow> which) {
        return d.view.steps.values().stream().anyMatch(step -> step.queued && !step.isHeld() && which.test(step));
    }

    /**
     * After a decision: stops the run for tasks that need more than their budgets leave. When no step is in flight,
     * starts held-back work if the limits now allow it, else stops the run; not while ended children may yet turn out to
     * have cost less.
     */
    static void after(Decision d) {
        stopForTasks(d);
        if (d.carriedOut() && d.holdEnded) {
            SlotScheduling.startWaiting(d);
        }
        if (d.carriedOut()
                && (HardLimit.limit(d.run) != null || !d.view.budgets.isEmpty() || d.view.worstCases > 0
                        || d.view.refused > 0)
                && nothingIsQueued(d)
                && d.view.children.values().stream().allMatch(ChildRow::over)) {
            d.heldBack = false;
            SlotScheduling.startWaiting(d);
            stopForTasks(d);
            if (d.heldBack && nothingIsQueued(d) && !ChildLinks.open(d.view)) {
                BigDecimal limit = HardLimit.limit(d.run);
                BigDecimal next = needed(d.view, d.funds.prices(), task -> true);
                stop(d, (d.heldBackByMonth ? "the workspace's limit of the month (usd_per_month)"
                        : limit == null ? "the workspace" : "the hard limit of " + Amounts.text(limit))
                        + (next == null || next.signum() == 0
                                ? " leaves nothing, and then no step begins, not even one without a cost"
                                : " does not leave the " + Amounts.text(next) + " that the "
                                        + nextCost(d.view, task -> true) + " may cost"));
            }
        }
    }

    /** True when no step is in flight, nor a request of a program whose step has gone back. */
    private static boolean nothingIsQueued(Decision d) {
        return d.view.steps.values().stream().noneMatch(step -> step.queued || !step.requests.isEmpty());
    }

    private static void stopForTasks(Decision d) {
        if (!d.carriedOut()) {
            return;
        }
        List<TaskBudgetRow> exceeded = d.budgets.stream().map(d.view.budgets::get).filter(Objects::nonNull)
                .filter(budget -> exceeded(d, budget.task())).toList();
        if (!exceeded.isEmpty()) {
            String reason = exceeded.stream().map(budget -> TaskBudgets.text(d.view, budget))
                    .collect(Collectors.joining(", "));
            TaskBudgets.exceeded(d, exceeded);
            stop(d, reason, exceeded);
        }
    }

    /**
     * True when the budget does not allow the task's next step, with nothing of the task in flight that could cost less
     * than known, or when it is used up and steps of the task wait to be claimed.
     */
    private static boolean exceeded(Decision d, String task) {
        HardLimit.Scope scope = HardLimit.task(d, task);
        if (scope == null
                || d.view.children.values().stream().anyMatch(child -> child.task().equals(task) && !child.ended())) {
            return false;
        }
        if (d.view.steps.values().stream().anyMatch(step -> !step.requests.isEmpty() && !step.queued
                && HardLimit.of(task, step.task()))) {
            return false;
        }
        if (d.view.steps.values().stream().anyMatch(step -> step.queued && HardLimit.of(task, step.task()))) {
            return !scope.allows(Amounts.ZERO) && unclaimed(d, step -> HardLimit.of(task, step.task()));
        }
        return d.view.tasks.values().stream().filter(row -> HardLimit.of(task, row)).flatMap(LimitStop::next)
                .anyMatch(next -> next.spec.startsRun() ? scope.room().signum() <= 0
                        : !next.spec.engineOwned() && !scope.allows(next.cost(d.funds.prices())));
    }

    /**
     * The least new hard limit with which the run continues, in credits. A step without a known cost begins as soon as the limit
     * leaves something.
     */
    static BigDecimal leastLimit(RunView view, Prices prices) {
        return leastLimit(HardLimit.usedCredits(view.run).add(HardLimit.childrenTake(view)), view.held,
                HardLimit.out(view, prices, step -> true), needed(view, prices, task -> true));
    }

    /** The least new budget of the task with which the run continues, in credits. */
    static BigDecimal leastBudget(RunView view, Prices prices, TaskBudgetRow budget) {
        return leastLimit(HardLimit.usedCredits(view, budget), Amounts.ZERO,
                HardLimit.out(view, prices, step -> HardLimit.of(budget.task(), step.task())),
                needed(view, prices, task -> HardLimit.of(budget.task(), task)));
    }

    /**
     * The least limit above the used and held credits that also pays the next step and the steps in flight.
     *
     * @param out the known cost of the steps in flight
     * @param next the known cost of the next step; null if absent
     */
    private static BigDecimal leastLimit(BigDecimal used, BigDecimal held, BigDecimal out, @Nullable BigDecimal next) {
        return Amounts.ceiling(used.add(out).add(next == null ? Amounts.ZERO : next))
                .max(Amounts.floor(used.add(held)).add(Amounts.LEAST));
    }

    /**
     * The least that a limit must leave for one more step to begin.
     *
     * @return 0 where a next step has no known cost; null where no step is ready to begin
     */
    static @Nullable BigDecimal needed(RunView view, Prices prices, Predicate<TaskRow> which) {
        return view.tasks.values().stream().filter(which).flatMap(task -> ready(view, task))
                .filter(step -> step.spec.startsRun() || !step.spec.engineOwned())
                .map(step -> step.spec.startsRun() ? Amounts.ZERO : step.cost(prices))
                .min(Comparator.naturalOrder()).orElse(null);
    }

    /** {@code next request} if a limit has refused the request of a program that is to begin again, else {@code next step}. */
    static String nextCost(RunView view, Predicate<TaskRow> which) {
        return view.tasks.values().stream().filter(which).flatMap(task -> ready(view, task))
                .anyMatch(step -> step.needed != null) ? "next request" : "next step";
    }

    /** The next steps of a task, which may have become ready when the run had stopped. */
    private static Stream<Next> ready(RunView view, TaskRow task) {
        if (task.state != TaskState.PENDING) {
            return next(task);
        }
        TaskRow hook = view.beforeHook;
        boolean ready = task.upstreamsOpen == 0 && (hook == null || hook == task || hook.terminal())
                && (task != view.afterHook || view.tasksOpen == 1)
                && task.spec().triggerRule().holds(task.upstreams.size(), task.upstreamsCompleted,
                        task.upstreamsFailed);
        return ready ? planned(task) : Stream.empty();
    }

    private static Stream<Next> planned(TaskRow task) {
        return task.planned().stream().limit(1).map(spec -> new Next(spec, null));
    }

    /**
     * A step that is to begin next.
     *
     * @param needed for a refused request of its program; null if absent
     */
    private record Next(StepSpec spec, @Nullable BigDecimal needed) {

        /** The least that a limit must leave for it. */
        BigDecimal cost(Prices prices) {
            return needed == null ? Holds.leastCost(prices, spec) : Holds.againCost(prices, spec, needed);
        }
    }

    /** The steps that a task is to begin next, at once or after a backoff. */
    private static Stream<Next> next(TaskRow task) {
        return switch (task.state) {
            case PENDING, AWAITING_HUMAN, COMPLETED, FAILED, CANCELLED, SKIPPED -> Stream.empty();
            case AWAITING_RETRY -> task.parked() ? Stream.empty() : planned(task);
            case QUEUED, ASSIGNED, RUNNING, CONTINUING, VERIFYING -> SlotScheduling.next(task).stream()
                    .filter(LimitStop::begins).map(step -> new Next(step.spec(), step.needed()));
        };
    }

    private static boolean begins(StepRow step) {
        return !step.queued && !step.evaluating && switch (step.state) {
            case PENDING, RUNNING -> true;
            case AWAITING_RETRY -> !step.parked();
            case WAITING, WAITING_APPROVAL, COMPLETED, FAILED, CANCELLED, SKIPPED -> false;
        };
    }

    private static void stop(Decision d, String reason) {
        stop(d, reason, List.of());
    }

    /**
     * Stops the run like a pause: work in flight may finish and is recorded. A run that is already paused does not
     * change.
     *
     * @param budgets of tasks, for which it stops
     */
    private static void stop(Decision d, String reason, List<TaskBudgetRow> budgets) {
        if (d.carriedOut()) {
            BigDecimal charged = HardLimit.charged(d.run);
            d.move(RunState.BUDGET_EXCEEDED, new RunPayload.BudgetExceeded(charged, HardLimit.limit(d.run), reason,
                    charged, d.run.uncollected,
                    budgets.isEmpty() ? null
                            : budgets.stream().map(budget -> TaskBudgets.cost(d.view, budget)).toList()));
            Pauses.rest(d);
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
