package io.keelson.core.policy;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Why an agent's call waits for a person, or may have to.
 *
 * @param detail the condition, its problem, the source of data from outside, or the input of a question with its
 *            members in the agent's order; null for any other reason
 */
public record CallGate(Reason reason, @Nullable String detail) {

    /** Reasons. */
    public enum Reason {
        /** A rule asks about each call. */
        ALWAYS,
        /** The tool's effects are destructive. */
        DESTRUCTIVE,
        /** The agent has seen data from outside, and the call changes something. */
        TAINTED,
        /** A condition on the call's input: the call waits if it holds, which is known when the call's turn comes. */
        CONDITION,
        /** The condition could not be evaluated. */
        CONDITION_FAILED,
        /** The condition does not hold: the call is made without a person. */
        CONDITION_FALSE,
        /** The agent asks a person. */
        QUESTION;

        /** The name in JSON, for example {@code destructive}. */
        public String wire() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** @param input of the call, as the agent wrote it */
    public static CallGate question(String input) {
        return new CallGate(Reason.QUESTION, input);
    }

    /** The stored text: the reason's name, then the detail. */
    public String text() {
        return detail == null ? reason.wire() : reason.wire() + " " + detail;
    }

    /** The reason of a stored text. */
    public static CallGate of(String text) {
        String[] parts = text.split(" ", 2);
        return new CallGate(Reason.valueOf(parts[0].toUpperCase(Locale.ROOT)), parts.length == 1 ? null : parts[1]);
    }

    /** True until the condition has been evaluated. */
    public boolean conditional() {
        return reason == Reason.CONDITION;
    }

    /** This gate after its condition evaluated to false. */
    public CallGate open() {
        return new CallGate(Reason.CONDITION_FALSE, detail);
    }

    /** This gate after its condition failed to evaluate. */
    public CallGate failed(String message) {
        return new CallGate(Reason.CONDITION_FAILED, detail + ": " + message);
    }
}
