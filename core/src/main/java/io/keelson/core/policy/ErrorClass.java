package io.keelson.core.policy;

import java.util.Locale;

/**
 * What kind of failure an error code stands for, and with it whether another attempt makes sense.
 * An executor that does not say is taken as {@link #INFRASTRUCTURE}.
 */
public enum ErrorClass {
    /** Timeout, crash, lost lease, network, 408/425/429/5xx, disk full: retried, without verification feedback. */
    INFRASTRUCTURE(true),
    /** A verifier rejected the result, or it does not fit its schema: retried with the feedback. */
    QUALITY(true),
    /** Invalid input, missing permission, not found: the same attempt would fail again, so never retried. */
    PERMANENT(false),
    /** A human said no; only a human can ask for another attempt. */
    HUMAN_REJECTION(false),
    /** Money or tokens ran out; needs a human. */
    BUDGET(false),
    /** Something it depends on did not succeed: skipped. */
    DEPENDENCY(false),
    /** Ended on request. */
    CANCELLED(false);

    private final boolean retryable;

    ErrorClass(boolean retryable) {
        this.retryable = retryable;
    }

    /** Whether policy may schedule another attempt without a human. */
    public boolean retryable() {
        return retryable;
    }

    /** The name in JSON and in the database, for example {@code human_rejection}. */
    public String wire() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The class with that {@link #wire()} name; {@link IllegalArgumentException} when there is none. */
    public static ErrorClass fromWire(String wire) {
        for (ErrorClass each : values()) {
            if (each.wire().equals(wire)) {
                return each;
            }
        }
        throw new IllegalArgumentException("no such error class: " + wire);
    }
}
