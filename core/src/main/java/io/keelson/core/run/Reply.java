package io.keelson.core.run;

import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The answer to a command. A refusal is a value and has changed nothing. */
public sealed interface Reply {

    /** Done, or already so ({@code changed} false): repeating a command is not an error. */
    record Done(boolean changed) implements Reply {}

    /** Done, and a step now runs under the caller's lease: the claimed one, or the one after the completed one. */
    record Claimed(StepAssignment assignment) implements Reply {}

    /**
     *
     * A result for an epoch whose result is already recorded.
     *
     * @param next the step that the caller received to continue with, and holds; null if absent
     * @param output JSON text of the recorded output, where it was read; null elsewhere
     */
    record Duplicate(@Nullable UUID next, @Nullable String output) implements Reply {
        public Duplicate(@Nullable UUID next) {
            this(next, null);
        }
    }

    /**
     * Reports of a chain are recorded, now or before.
     *
     * @param replies to the recorded reports, which are the first of the chain
     * @param refusal the reply to the report behind them; null if all are recorded
     */
    record Taken(List<Reply> replies, @Nullable Reply refusal) implements Reply {
        public Taken(List<Reply> replies) {
            this(replies, null);
        }

        public Taken {
            replies = List.copyOf(replies);
        }

        /** The number of recorded reports. */
        public int reports() {
            return replies.size();
        }
    }

    /**
     * The holder's use is charged.
     *
     * @param exhausted whether the run's limits and the credits leave nothing for more
     */
    record Metered(boolean exhausted) implements Reply {}

    /**
     * A request to a model is held, or a limit does not pay it.
     *
     * @param maxOutput tokens that are paid, or 0
     * @param refusal why it is not paid, and which command helps; null if it is
     * @param waits whether it may be paid when other requests of the run have ended; only for a holder that waits for them
     */
    record Paid(long maxOutput, @Nullable String refusal, boolean waits) implements Reply {

        /** The request is held. */
        public static Paid of(long maxOutput) {
            return new Paid(maxOutput, null, false);
        }
    }

    /**
     *
     * Refused.
     *
     * @param code stable, UPPER_SNAKE
     * @param current the state that prevents it; null if absent
     * @param allowed the possible actions, decisions or values instead; may be empty
     */
    record Rejected(String code, String message, @Nullable String current, List<String> allowed) implements Reply {}

    Reply CHANGED = new Done(true);
    Reply UNCHANGED = new Done(false);

    static Rejected rejected(String code, String message) {
        return new Rejected(code, message, null, List.of());
    }
}
