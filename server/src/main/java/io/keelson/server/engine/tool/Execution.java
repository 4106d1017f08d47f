package io.keelson.server.engine.tool;

import io.keelson.core.money.WorstCase;

/** The execution of a call: its slot, its requests to models, and the credits that it holds. */
public interface Execution {

    /** An execution without a run: its slot has no bounds, it records no requests, and everything is paid. */
    Execution NONE = new Execution() {};

    /**
     * The call waits for another system from now on. For tools whose slots {@linkplain SlotKind#waits() wait}: the executor
     * bounds the number of calls before that, which prepare requests, and after {@link #waitEnds}, which have answers in
     * memory.
     */
    default void waitBegins() {}

    /** The other system answers. Blocks while too many other calls have their answers in memory. Idempotent. */
    default void waitEnds() {}

    /** Records the requests to models. */
    default SentRequests sent() {
        return SentRequests.NONE;
    }

    /**
     * Holds the cost of a worst case instead of the step's hold. If the credits do not cover it in addition to other
     * holds, the thread is interrupted and the step waits until they do.
     *
     * @param begun true after earlier requests of this execution, whose tokens are part of the worst case: the step
     *            does not go back
     * @return tokens of output that are paid
     * @throws ToolFailure {@code BUDGET_EXCEEDED} if the step does not go back; its hold is unchanged
     */
    default long hold(WorstCase most, boolean begun) throws ToolFailure, InterruptedException {
        return most.maxOutput();
    }
}
