package io.keelson.core.run;

import io.keelson.core.policy.ErrorClass;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 *
 * Why a step, task or run failed.
 *
 * @param code stable, UPPER_SNAKE
 * @param message for people
 * @param retryAfter the minimum delay before another try, as the failing side requested; null if absent
 * @param system outside of Keelson that is out of order, such as {@code model:NAME}; null where none is known to be
 */
public record StepError(String code, ErrorClass errorClass, String message, @Nullable Duration retryAfter,
        @Nullable String system) {

    public StepError(String code, ErrorClass errorClass, String message, @Nullable Duration retryAfter) {
        this(code, errorClass, message, retryAfter, null);
    }

    public StepError(String code, ErrorClass errorClass, String message) {
        this(code, errorClass, message, null);
    }

    /** A copy that names the failed system. */
    public StepError of(@Nullable String other) {
        return new StepError(code, errorClass, message, retryAfter, other);
    }
}
