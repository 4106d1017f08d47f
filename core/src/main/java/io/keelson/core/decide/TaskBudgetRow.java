package io.keelson.core.decide;

import io.keelson.core.money.Amounts;
import java.math.BigDecimal;

/**
 * The budget of a task in all attempts of its run.
 *
 * @param task id of the task in the plan; of a {@code for_each}, its budget covers all items
 * @param limit maximum cost of its steps and of the runs that they start, in credits
 * @param charged cost of its steps that was collected, exact; more than the limit where a step's cost was not known before
 * @param exceeded whether it has stopped the run, which has not continued since
 */
public record TaskBudgetRow(String task, BigDecimal limit, BigDecimal charged, boolean exceeded) {

    TaskBudgetRow charge(BigDecimal amount) {
        return new TaskBudgetRow(task, limit, Amounts.exact(charged.add(amount)), exceeded);
    }

    TaskBudgetRow limited(BigDecimal most) {
        return new TaskBudgetRow(task, Amounts.of(most), charged, exceeded);
    }

    TaskBudgetRow exceeded(boolean now) {
        return new TaskBudgetRow(task, limit, charged, now);
    }
}
