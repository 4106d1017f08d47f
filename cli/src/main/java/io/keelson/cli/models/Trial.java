package io.keelson.cli.models;

import java.math.BigDecimal;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A case that an agent has done: the recorded task, or a fork of it.
 *
 * @param variant {@link EvaluationFile#ORIGINAL} for the recorded task
 * @param number from 1 for the trials of the same case and variant; 0 for the recorded task
 * @param run null if no fork was created
 * @param errorCode the reason of a failure; null if it passed
 * @param score of the last verdict, 0 to 1; null if absent
 * @param cost credits of the turns, calls and verifications charged
 * @param turns taken turns, in all attempts
 * @param calls requested calls
 * @param attempts of the task
 * @param output of the task; a JSON null if absent
 */
record Trial(String name, String variant, int number, @Nullable String run, Outcome outcome, @Nullable String errorCode,
        @Nullable String errorMessage, @Nullable BigDecimal score, BigDecimal cost, int turns, int calls, int attempts,
        JsonNode output) {

    /** How a trial has ended. */
    enum Outcome {
        /** The task has completed, and was not rejected. */
        PASSED,
        /** The task has failed, or its output was rejected. */
        FAILED,
        /** The agent asked for a call without a record. */
        STOPPED,
        /** A person has to decide. */
        UNDECIDED,
        /** The server made no fork. */
        REFUSED;

        String wire() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** A copy with another judge's marks. */
    Trial judged(Outcome verdict, @Nullable BigDecimal marks, @Nullable String code, @Nullable String message) {
        return new Trial(name, variant, number, run, verdict, code, message, marks, cost, turns, calls, attempts,
                output);
    }
}
