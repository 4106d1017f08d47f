package io.keelson.core.run;

import io.keelson.core.policy.Effects;
import io.keelson.core.policy.RetryPolicy;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The result of an agent's turn. */
public sealed interface TurnAnswer {

    /**
     * The turn asks for tool calls, in this order, followed by another turn.
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

    /** The turn has ended with an answer that cannot be used; another turn follows, which sees why. */
    record Again() implements TurnAnswer {}

    /** The turn has summarised the turns before it, so that the next one sees less; it follows at once. */
    record Compacted() implements TurnAnswer {}

    /** An invalid answer, which is a failure of the turn. */
    record Unreadable(String why) implements TurnAnswer {}

    /**
     * A tool call. The task's terms decide whether it is made.
     *
     * @param input JSON text without expressions
     * @param digest SHA-256 of the input in its canonical notation, hexadecimal: equal inputs have the same
     * @param retry {@link RetryPolicy#NONE} for a call that is executed at most once
     * @param timeout how long one execution may take
     * @param refusal why the call is not made; null for a call that is
     * @param effects of the tool; null if they are unknown
     * @param recorded what another run has recorded of an equal call, for a task whose calls are not made; null for a task
     *                 whose calls are made
     */
    record Call(String tool, String input, String digest, RetryPolicy retry, Duration timeout,
            @Nullable StepError refusal, @Nullable Effects effects, @Nullable Recorded recorded) {

        /** A call of a task whose calls are made. */
        public Call(String tool, String input, String digest, RetryPolicy retry, Duration timeout,
                @Nullable StepError refusal, @Nullable Effects effects) {
            this(tool, input, digest, retry, timeout, refusal, effects, null);
        }

        /** A call of a tool with unknown effects. */
        public Call(String tool, String input, String digest, RetryPolicy retry, Duration timeout,
                @Nullable StepError refusal) {
            this(tool, input, digest, retry, timeout, refusal, null);
        }

        /** A call that is made. */
        public Call(String tool, String input, String digest, RetryPolicy retry, Duration timeout) {
            this(tool, input, digest, retry, timeout, null);
        }

        /** A copy that is answered from a record. */
        public Call from(Recorded record) {
            return new Call(tool, input, digest, retry, timeout, refusal, effects, record);
        }
    }

    /** The record of a call in another run. */
    sealed interface Recorded {

        /** @param json text of the output */
        record Output(String json) implements Recorded {}

        /** The call failed, or was not made. */
        record Failure(StepError error) implements Recorded {}

        /** No equal call has ended there. */
        record Nothing() implements Recorded {}
    }
}
