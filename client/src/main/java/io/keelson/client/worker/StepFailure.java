package io.keelson.client.worker;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Thrown by a handler: the step failed, with the facts that the retry policy needs. */
public final class StepFailure extends Exception {

    private static final long serialVersionUID = 1L;

    private static final int MAX_CODE = 100;

    private final String code;
    private final ErrorClass errorClass;
    private final @Nullable Duration retryAfter;

    /**
     * @param code stable, UPPER_SNAKE, at most 100 characters
     * @param message for people
     */
    public StepFailure(String code, ErrorClass errorClass, String message) {
        this(code, errorClass, message, null);
    }

    /** @param retryAfter the earliest time from now that a retry makes sense; null when not known */
    public StepFailure(String code, ErrorClass errorClass, String message, @Nullable Duration retryAfter) {
        super(message);
        if (code.isBlank() || code.length() > MAX_CODE) {
            throw new IllegalArgumentException("a code has 1 to " + MAX_CODE + " characters: " + code);
        }
        this.code = code;
        this.errorClass = errorClass;
        this.retryAfter = retryAfter;
    }

    /** The error code. */
    public String code() {
        return code;
    }

    /** The class of the error, which decides whether it is retried. */
    public ErrorClass errorClass() {
        return errorClass;
    }

    /** Minimum delay of the next attempt; null for that of the retry policy. */
    public @Nullable Duration retryAfter() {
        return retryAfter;
    }
}
