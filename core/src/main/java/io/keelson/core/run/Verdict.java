package io.keelson.core.run;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * A verifier's judgement of a task's output.
 *
 * @param score 0 to 1; null if absent
 * @param feedback for the next attempt, or for the person who is asked; null if absent
 */
public record Verdict(Outcome outcome, @Nullable BigDecimal score, @Nullable String feedback) {

    public enum Outcome {
        PASSED, REJECTED,
        /** A person must decide. */
        UNSURE,
        /** No output can meet the task's requirements: a new plan is needed. */
        TASK_WRONG
    }
}
