package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Amounts;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.RunPayload;
import java.math.BigDecimal;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Enforces a run's hard limit and the budgets of its tasks. A step begins only while both leave
 * its known cost. The run stops when no step is in flight and none can begin, or when none of a task with a budget is and
 * its next one cannot begin.
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

    /**
     * A limit of the run or of one of its tasks.
     *
     * @param charged what counts towards it: charges, and what children may cost
     * @param out the known cost of its steps in flight
     */
    private record Scope(BigDecimal limit, BigDecimal charged, BigDecimal out) {

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

    /** The same of the steps of a task, by its id in the plan. */
    static BigDecimal out(Decision d, String task) {
        return out(d, step -> of(task, step.task()));
    }

    private static @Nullable Scope run(Decision d) {
        BigDecimal limit = Credits.hardLimit(d.run);
        return limit == null ? null
                : new Scope(limit, Credits.charged(d.run).add(Credits.childrenTake(d)), out(d));
    }

    /** @param task id in the plan */
    private static @Nullable Scope task(Decision d, String task) {
        TaskBudgetRow budget = d.view.budgets.get(task);
        return budget == null ? null
                : new Scope(budget.limit(), TaskBudgets.used(d.view, budget), out(d, task));
    }

    private static boolean of(String task, TaskRow row) {
        return row.planKey().equals(task);
    }

    private static boolean allows(@Nullable Scope scope, BigDecimal more) {
        return scope == null || scope.allows(more);
    }

    /** True when the run has a limit or the task a budget. */
    static boolean mayHoldBack(Decision d, TaskRow task) {
        return Credits.hardLimit(d.run) != null || d.view.budgets.containsKey(task.planKey());
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
        return held(d, task, run != null && run.room().signum() <= 0, own != null && own.room().signum() <= 0);
    }

    /** True when a limit does not allow the step to begin: it waits until the steps in flight have ended. */
    static boolean holdsBack(Decision d, StepRow step) {
        if (!mayHoldBack(d, step.task()) || FirstPlan.underWay(d)) {
            return false;
        }
        BigDecimal cost = d.funds.prices().known(step.spec().tool());
        return held(d, step.task(), !allows(run(d), cost), !allows(task(d, step.task().planKey()), cost));
    }

    private static boolean held(Decision d, TaskRow task, boolean byRun, boolean byTask) {
        d.heldBack |= byRun;
        if (byTask) {
            d.budgets.add(task.planKey());
        }
        return byRun || byTask;
    }

    /** The same for the first step of a queued task. */
    static boolean holdsBack(Decision d, TaskRow task) {
        return mayHoldBack(d, task) && !FirstPlan.underWay(d)
                && task.steps.stream().filter(step -> !step.state.terminal()).findFirst()
                        .filter(step -> step.spec().kind() == StepKind.RUN ? holdsBackChild(d, task)
                                : !step.spec().kind().engineOwned() && holdsBack(d, step))
                        .isPresent();
    }

    /** The known cost of queued and running steps. */
    private static BigDecimal out(Decision d, Predicate<StepRow> which) {
        return d.funds.prices().tools().isEmpty() ? Amounts.ZERO
                : d.view.steps.values().stream().filter(step -> step.queued && which.test(step))
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
        return unclaimed(d, step -> true) && !allows(run(d), Amounts.ZERO);
    }

    private static boolean unclaimed(Decision d, Predicate<StepRow> which) {
        return d.view.steps.values().stream().anyMatch(step -> step.queued && !step.held() && which.test(step));
    }

    /**
     * After a decision: stops the run for tasks that need more than their budgets leave. When no step is in flight,
     * starts held-back work if the limits now allow it, else stops the run; not while ended children may yet turn out to
     * have cost less.
     */
    static void after(Decision d) {
        stopForTasks(d);
        if (d.carriedOut() && (Credits.hardLimit(d.run) != null || !d.view.budgets.isEmpty()) && nothingIsQueued(d)
                && d.view.children.values().stream().allMatch(ChildRow::over)) {
            d.heldBack = false;
            SlotScheduling.goOn(d);
            stopForTasks(d);
            if (d.heldBack && nothingIsQueued(d) && !ChildRuns.open(d.view)) {
                stop(d, "the hard limit does not leave what the next step costs");
            }
        }
    }

    private static boolean nothingIsQueued(Decision d) {
        return d.view.steps.values().stream().noneMatch(step -> step.queued);
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
        Scope scope = task(d, task);
        if (scope == null || d.view.children.values().stream().anyMatch(child -> of(task, child) && !child.ended())) {
            return false;
        }
        if (d.view.steps.values().stream().anyMatch(step -> step.queued && of(task, step.task()))) {
            return !scope.allows(Amounts.ZERO) && unclaimed(d, step -> of(task, step.task()));
        }
        return d.view.tasks.values().stream().filter(row -> of(task, row)).flatMap(HardLimit::next)
                .anyMatch(next -> next.kind() == StepKind.RUN ? scope.room().signum() <= 0
                        : !next.kind().engineOwned() && !scope.allows(d.funds.prices().known(next.tool())));
    }

    private static boolean of(String task, ChildRow child) {
        return child.task().equals(task);
    }

    /** The steps that a task is to begin next, at once or after a backoff. */
    private static Stream<StepSpec> next(TaskRow task) {
        return switch (task.state) {
            case PENDING, AWAITING_HUMAN, COMPLETED, FAILED, CANCELLED, SKIPPED -> Stream.empty();
            case AWAITING_RETRY -> task.parked() ? Stream.empty() : task.planned().stream().limit(1);
            case QUEUED, ASSIGNED, RUNNING, CONTINUING, VERIFYING -> {
                Stream<StepRow> open = task.steps.stream().filter(step -> !step.state.terminal());
                yield (task.spec().parallelSteps() ? open : open.limit(1)).filter(HardLimit::begins).map(StepRow::spec);
            }
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
     * Stops the run like a pause: work in flight may finish and is recorded. A run that is already held up does not
     * change.
     *
     * @param budgets of tasks, for which it stops
     */
    private static void stop(Decision d, String reason, List<TaskBudgetRow> budgets) {
        if (d.carriedOut()) {
            BigDecimal charged = Credits.charged(d.run);
            d.move(RunState.BUDGET_EXCEEDED, new RunPayload.BudgetExceeded(charged, Credits.hardLimit(d.run), reason,
                    charged, d.run.uncollected,
                    budgets.isEmpty() ? null
                            : budgets.stream().map(budget -> TaskBudgets.cost(d.view, budget)).toList()));
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
