package io.keelson.server.engine.tool;

import io.keelson.core.money.WorstCase;

/** Holds credits of the run for the next cost of a tool. */
@FunctionalInterface
public interface CreditHolds {

    /** For tools that are executed without a run: everything is paid. */
    CreditHolds NONE = (most, begun) -> most.maxOutput();

    /**
     * Holds the cost of a worst case instead of the step's hold. If the credits do not cover it in addition to other
     * holds, the thread is interrupted and the step waits until they do.
     *
     * @param begun true after earlier requests of this execution, whose tokens are part of the worst case: the step
     *            does not go back
     * @return tokens of output that are paid
     * @throws ToolFailure {@code BUDGET_EXCEEDED} if the step does not go back; its hold is unchanged
     */
    long hold(WorstCase most, boolean begun) throws ToolFailure, InterruptedException;
}
