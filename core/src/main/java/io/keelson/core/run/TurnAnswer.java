package io.keelson.core.run;

import io.keelson.core.policy.RetryPolicy;
import java.time.Duration;
import java.util.List;

/** What an agent's turn came to. */
public sealed interface TurnAnswer {

    /**
     * It wants tools called, in this order, and then another turn.
     *
     * @param calls at least one
     */
    record Calls(List<Call> calls) implements TurnAnswer {
        public Calls {
            calls = List.copyOf(calls);
        }
    }

    /**
     * The task is done.
     *
     * @param output JSON text of the task's output
     */
    record Done(String output) implements TurnAnswer {}

    /** It cannot be understood, which is a failure of the turn. */
    record Unreadable(String why) implements TurnAnswer {}

    /**
     * A call of a tool. Whether it is made is decided on the task's terms, not here.
     *
     * @param input JSON text, in which nothing is an expression
     * @param timeout how long one execution may take
     */
    record Call(String tool, String input, RetryPolicy retry, Duration timeout) {}
}
