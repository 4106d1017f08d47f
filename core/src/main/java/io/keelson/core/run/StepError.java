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
 * @param retryAfter the minimum delay before another try, as the failing side requested; null for none
 */
public record StepError(String code, ErrorClass errorClass, String message, @Nullable Duration retryAfter) {

    public StepError(String code, ErrorClass errorClass, String message) {
        this(code, errorClass, message, null);
    }
}
