package io.keelson.core.run;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Why a step cannot be executed before a time: the system that it needs is busy, or works on the step's call.
 *
 * @param delay minimum time before the next claim, not negative
 * @param busy the busy system, such as {@code model:NAME}; null when the holder names none
 * @param error the step's failure when the system is still busy after the maxWait
 * @param maxWait maximum time from the attempt's first deferral; null for {@code provider_wait_seconds} of the run
 */
public record Deferral(Duration delay, @Nullable String busy, StepError error, @Nullable Duration maxWait) {

    /** Prefix of {@link #busy} for a model. */
    public static final String MODEL = "model:";

    /** Prefix of {@link #busy} for a question to a person. */
    public static final String INBOX = "inbox:";

    /** A deferral with the run's maximum wait. */
    public Deferral(Duration delay, @Nullable String busy, StepError error) {
        this(delay, busy, error, null);
    }

    public Deferral {
        if (delay.isNegative()) {
            throw new IllegalArgumentException("a deferral of " + delay);
        }
    }
}
