package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Amounts;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.run.Reply;
import io.keelson.core.run.RunPayload;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The accounts of budgeted tasks. A plan gives a task its budget, with which the task keeps its charges over all attempts
 * and plans of the run; only a person changes the budget then. {@link HardLimit} enforces it.
 */
final class TaskBudgets {
    private TaskBudgets() {}

    /** Opens the account of a planned task with a budget, unless it has one. */
    static void give(Decision d, TaskSpec spec) {
        BigDecimal limit = spec.policy().budget();
        if (limit != null && !d.view.budgets.containsKey(spec.id())) {
            put(d, new TaskBudgetRow(spec.id(), limit, Amounts.ZERO, false));
        }
    }

    /** A cost of a step of the task was collected. */
    static void charge(Decision d, TaskRow task, BigDecimal amount) {
        TaskBudgetRow budget = d.view.budgets.get(task.planKey());
        if (budget != null) {
            put(d, budget.charge(amount));
            d.budgets.add(budget.task());
        }
    }

    private static void put(Decision d, TaskBudgetRow budget) {
        d.view.budgets.put(budget.task(), budget);
        d.changes.put(d.run, budget);
    }

    private static void change(Decision d, Stream<TaskBudgetRow> budgets, UnaryOperator<TaskBudgetRow> how) {
        budgets.toList().forEach(budget -> put(d, how.apply(budget)));
    }

    /** The run was stopped for these budgets. */
    static void exceeded(Decision d, List<TaskBudgetRow> budgets) {
        change(d, budgets.stream(), budget -> budget.exceeded(true));
    }

    /** The run continues. */
    static void continued(Decision d) {
        change(d, d.view.budgets.values().stream().filter(TaskBudgetRow::exceeded), budget -> budget.exceeded(false));
    }

    /** The budgets that have stopped the run and whose tasks are still open. */
    static List<TaskBudgetRow> stopping(RunView view) {
        return view.run.state != RunState.BUDGET_EXCEEDED ? List.of()
                : view.budgets.values().stream().filter(TaskBudgetRow::exceeded).filter(budget -> view.tasks.values()
                        .stream().anyMatch(task -> !task.terminal() && task.planKey().equals(budget.task()))).toList();
    }

    /** The refusal to continue a run that a used-up budget has stopped; null if absent. */
    static Reply.@Nullable Rejected usedUp(Decision d) {
        return stopping(d.view).stream()
                .filter(budget -> HardLimit.usedCredits(d.view, budget).compareTo(budget.limit()) >= 0)
                .findFirst().map(budget -> new Reply.Rejected("BUDGET_EXCEEDED", text(d.view, budget),
                        d.run.state.wire(), List.of("budget", "cancel")))
                .orElse(null);
    }

    /** The cost and the budget of a task, as text for users. */
    static String text(RunView view, TaskBudgetRow budget) {
        return "task " + budget.task() + " used " + Amounts.text(HardLimit.usedCredits(view, budget)) + " of "
                + Amounts.credits(budget.limit());
    }

    static RunPayload.TaskCost cost(RunView view, TaskBudgetRow budget) {
        return new RunPayload.TaskCost(budget.task(), HardLimit.usedCredits(view, budget), budget.limit());
    }

    /** True when the tasks have these budgets. */
    static boolean are(Decision d, Map<String, BigDecimal> budgets) {
        return budgets.entrySet().stream().allMatch(each -> {
            TaskBudgetRow budget = d.view.budgets.get(each.getKey());
            return budget != null && budget.limit().compareTo(each.getValue()) == 0;
        });
    }

    /** Why the tasks cannot have these budgets; null when they can. */
    static Reply.@Nullable Rejected refusal(Decision d, Map<String, BigDecimal> budgets) {
        for (Map.Entry<String, BigDecimal> each : budgets.entrySet().stream().sorted(Map.Entry.comparingByKey())
                .toList()) {
            TaskBudgetRow budget = d.view.budgets.get(each.getKey());
            if (budget == null) {
                return new Reply.Rejected("TASK_WITHOUT_BUDGET",
                        "the plan has no task '" + each.getKey() + "' with a budget" + (d.view.budgets.isEmpty() ? ""
                                : "; tasks with one: " + String.join(", ", d.view.budgets.keySet())),
                        d.run.state.wire(), List.of());
            }
            BigDecimal used =
                    Amounts.ceiling(HardLimit.usedCredits(d.view, budget).add(HardLimit.out(d, budget.task())));
            if (each.getValue().compareTo(used) < 0) {
                return new Reply.Rejected("BUDGET_TOO_LOW", "task '" + budget.task() + "' needs "
                        + Amounts.credits(used) + " or more: that amount is already charged, reserved or in flight",
                        d.run.state.wire(), List.of());
            }
        }
        return null;
    }

    /** Sets the budgets of tasks that have one. A budget that leaves something no longer stops the run. */
    static void raise(Decision d, Map<String, BigDecimal> budgets) {
        change(d, d.view.budgets.values().stream().filter(budget -> budgets.containsKey(budget.task())),
                budget -> {
                    TaskBudgetRow raised = budget.limited(Objects.requireNonNull(budgets.get(budget.task())));
                    return raised.exceeded(
                            raised.exceeded() && HardLimit.usedCredits(d.view, raised).compareTo(raised.limit()) >= 0);
                });
    }
}
