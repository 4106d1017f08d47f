package io.keelson.client;

import java.math.BigDecimal;

/**
 * The budget of a task in all attempts of its run.
 *
 * @param task id of the task in the plan; of a {@code for_each}, its budget covers all items
 * @param budgetUsd maximum cost in credits: by the plan until a person raises it
 * @param used credits charged for its steps, with what the runs that they started were charged or may cost
 * @param exceeded whether it has stopped the run, which has not continued since
 */
public record TaskBudget(String task, BigDecimal budgetUsd, BigDecimal used, boolean exceeded) {}
