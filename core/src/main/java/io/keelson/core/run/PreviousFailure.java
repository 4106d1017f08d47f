package io.keelson.core.run;

import io.keelson.core.policy.ErrorClass;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The previous failures of a step, for its next holder.
 *
 * @param taskAttempt the task's present attempt, from 1
 * @param step the step's own last failure; null if absent
 * @param task why the task's last attempt failed, a verifier's feedback for example; null in a first attempt
 */
public record PreviousFailure(int taskAttempt, @Nullable StepError step, @Nullable StepError task) {

    /** The previous failure of a step; null if absent. The task's error counts in a further attempt only. */
    public static @Nullable PreviousFailure of(int taskAttempt, @Nullable StepError step, @Nullable StepError task) {
        @Nullable StepError last = taskAttempt > 1 ? task : null;
        return step == null && last == null ? null : new PreviousFailure(taskAttempt, step, last);
    }

    /** The error from its columns; null when there is no code. */
    public static @Nullable StepError error(@Nullable String code, @Nullable String errorClass,
            @Nullable String message) {
        return code == null ? null
                : new StepError(code,
                        errorClass == null ? ErrorClass.INFRASTRUCTURE : ErrorClass.fromWire(errorClass),
                        Objects.requireNonNullElse(message, code));
    }
}
