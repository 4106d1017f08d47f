package io.keelson.core.run;

import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The answer to a command. A refusal is a value and has changed nothing. */
public sealed interface Reply {

    /** Done, or already so ({@code changed} false): repeating a command is no error. */
    record Done(boolean changed) implements Reply {}

    /**
     * Done, and a step is now running under the caller's lease: the one that was to be claimed, or the one that follows
     * the completed one.
     */
    record Claimed(StepAssignment assignment) implements Reply {}

    /**
     * A result for an epoch whose result is already recorded.
     *
     * @param next the step that the caller has got to go on with, and holds; null when there is none
     * @param output JSON text of the recorded output, where it was looked up; null elsewhere
     */
    record Duplicate(@Nullable UUID next, @Nullable String output) implements Reply {
        public Duplicate(@Nullable UUID next) {
            this(next, null);
        }
    }

    /**
     * Refused.
     *
     * @param code stable, UPPER_SNAKE
     * @param current the state that stands in the way; null when none does
     * @param allowed what would be possible instead; may be empty
     */
    record Rejected(String code, String message, @Nullable String current, List<String> allowed) implements Reply {}

    Reply CHANGED = new Done(true);
    Reply UNCHANGED = new Done(false);

    static Rejected rejected(String code, String message) {
        return new Rejected(code, message, null, List.of());
    }
}
