package io.keelson.api.run;

import java.math.BigDecimal;

/**
 * The budget of a task in all attempts of its run.
 *
 * @param task id of the task in the plan; of a for_each, the budget covers all items
 * @param budgetUsd maximum cost; by the plan until a person raises it
 * @param used charges of its steps with the charges and possible costs of the runs that they started
 * @param exceeded whether it has stopped the run, which has not continued since
 */
public record TaskBudget(String task, BigDecimal budgetUsd, BigDecimal used, boolean exceeded) {}
