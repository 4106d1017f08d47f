package io.keelson.client.worker;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Thrown by a handler: a system that the step needs is busy. The step is claimed again after the delay, by any worker. It
 * costs neither an attempt nor a failure, until the run has waited for {@code timeouts.provider_wait_seconds}.
 */
public final class StepDeferral extends Exception {

    private static final long serialVersionUID = 1L;

    private static final int MAX_CODE = 100;

    private final Duration delay;
    private final @Nullable String busy;
    private final @Nullable String code;

    /**
     * @param delay minimum time before the next claim
     * @param message for people
     */
    public StepDeferral(Duration delay, String message) {
        this(delay, null, null, message);
    }

    /**
     * @param busy the busy system, such as {@code model:NAME}, at most 200 characters; null if absent
     * @param code of the step's failure when the system is busy for too long, at most 100 characters; null for
     *             {@code UPSTREAM_UNAVAILABLE}
     */
    public StepDeferral(Duration delay, @Nullable String busy, @Nullable String code, String message) {
        super(message);
        if (delay.isNegative()) {
            throw new IllegalArgumentException("a delay is not negative: " + delay);
        }
        if (code != null && (code.isBlank() || code.length() > MAX_CODE)) {
            throw new IllegalArgumentException("a code has 1 to " + MAX_CODE + " characters: " + code);
        }
        this.delay = delay;
        this.busy = busy;
        this.code = code;
    }

    /** Time until the step is claimed again. */
    public Duration delay() {
        return delay;
    }

    /** The busy system; null if absent. */
    public @Nullable String busy() {
        return busy;
    }

    /** Code of the step's failure when the system is busy for too long; null for the server's. */
    public @Nullable String code() {
        return code;
    }
}
