package io.keelson.core.run;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Why a step cannot be executed before a time: the system that it needs is busy.
 *
 * @param delay minimum time before the next claim, not negative
 * @param busy the busy system, such as {@code model:NAME}; null when the holder names none
 * @param error the step's failure when the system is still busy after {@code provider_wait_seconds}
 */
public record Deferral(Duration delay, @Nullable String busy, StepError error) {

    /** Prefix of {@link #busy} for a model. */
    public static final String MODEL = "model:";

    public Deferral {
        if (delay.isNegative()) {
            throw new IllegalArgumentException("a deferral of " + delay);
        }
    }
}
