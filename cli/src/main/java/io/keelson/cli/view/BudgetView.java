package io.keelson.cli.view;

import io.keelson.api.run.Explanation;
import io.keelson.api.run.Run;
import io.keelson.api.run.TaskBudget;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The limits of a run and of its tasks, with the charged and the remaining amounts. */
public final class BudgetView {

    private static final Set<String> MONEY = Set.of("BUDGET_EXCEEDED", "CREDITS_HELD");

    private BudgetView() {}

    /**
     * @param reasons why the run waits; those about money have the held credits and the amount that is missing
     * @param command how this program is called
     */
    public static List<String> lines(Run run, List<Explanation.Reason> reasons, String command, Style style) {
        List<String> lines = new ArrayList<>();
        lines.add(style.bold(TerminalText.clean(run.name())) + "  " + style.state(run) + "  " + style.dim(run.id()));
        Table table = new Table("BUDGET OF", "LIMIT", "CHARGED", "UNCOLLECTED", "LEFT");
        row(table, "the run", run.hardLimitUsd(), amount(run.creditsCharged()), amount(run.creditsUncollected()),
                style);
        for (TaskBudget task : run.taskBudgets()) {
            row(table, "task " + TerminalText.clean(task.task()), task.budgetUsd(), task.used(), BigDecimal.ZERO,
                    style);
        }
        lines.addAll(table.withoutEmpty().lines(style));
        if (run.childCount() > 0 && run.hardLimitUsd() != null) {
            lines.add(style.dim("the charges and limits of its child runs count towards its limit, too"));
        }
        if (run.softLimitUsd() != null) {
            lines.add("a warning is sent at " + AmountText.credits(run.softLimitUsd()));
        }
        reasons.stream().filter(reason -> MONEY.contains(reason.code()))
                .forEach(reason -> lines.add(style.yellow(TerminalText.clean(reason.text()))));
        lines.add(style.dim("change it with: " + command + " budget " + run.id() + " --hard-limit CREDITS"
                + (run.taskBudgets().isEmpty() ? "" : " --task TASK=CREDITS")));
        return lines;
    }

    /** Limits count charges, without uncollected cost. */
    private static void row(Table table, String of, @Nullable BigDecimal limit, BigDecimal charged,
            BigDecimal uncollected, Style style) {
        table.row(of, limit == null ? style.dim("none") : AmountText.decimal(limit), AmountText.decimal(charged),
                uncollected.signum() == 0 ? "" : AmountText.decimal(uncollected),
                limit == null ? "" : AmountText.decimal(limit.subtract(charged).max(BigDecimal.ZERO)));
    }

    private static BigDecimal amount(@Nullable BigDecimal amount) {
        return amount == null ? BigDecimal.ZERO : amount;
    }
}
