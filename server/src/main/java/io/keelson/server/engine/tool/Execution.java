package io.keelson.server.engine.tool;

import io.keelson.core.money.WorstCase;
import io.keelson.core.run.CallWait;
import org.jspecify.annotations.Nullable;

/** The execution of a call: its slot, its requests to models and other servers, and the credits that it holds. */
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

    /**
     * Stores where the call of another server is, before the tool continues. If the lease is gone, the thread is interrupted.
     *
     * @param now null when the call may be sent as if for the first time
     * @return false when another execution of the step has sent the call, and nothing is stored
     */
    default boolean track(@Nullable CallWait now) throws InterruptedException {
        return true;
    }
}
