package io.keelson.client;

import java.math.BigDecimal;

/**
 * The budget of a task in all attempts of its run.
 *
 * @param task id of the task in the plan; the budget of a {@code for_each} covers all items
 * @param budgetUsd maximum cost in credits: by the plan until a person raises it
 * @param used credits charged for its steps, with charges and possible costs of their child runs
 * @param exceeded whether it has stopped the run, which has not continued since
 */
public record TaskBudget(String task, BigDecimal budgetUsd, BigDecimal used, boolean exceeded) {}
