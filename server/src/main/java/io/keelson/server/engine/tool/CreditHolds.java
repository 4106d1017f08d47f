package io.keelson.server.engine.tool;

import io.keelson.core.money.WorstCase;

/** Holds credits of the run for what a tool is about to spend. */
@FunctionalInterface
public interface CreditHolds {

    /** For tools that are executed without a run: everything is paid. */
    CreditHolds NONE = (most, begun) -> most.maxOutput();

    /**
     * Holds the cost of a worst case in place of what the step holds. If the credits do not pay it beside other holds, the
     * thread is interrupted and the step goes back until they do.
     *
     * @param begun true after earlier requests of this execution, whose tokens are part of the worst case: the step does not go back
     * @return tokens of output that are paid
     * @throws ToolFailure {@code BUDGET_EXCEEDED} where the step does not go back; it still holds what it held
     */
    long hold(WorstCase most, boolean begun) throws ToolFailure, InterruptedException;
}
