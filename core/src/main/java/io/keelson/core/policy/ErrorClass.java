package io.keelson.core.policy;

import java.util.Locale;

/**
 * The class of an error code, which decides whether another attempt makes sense. Without a class, {@link
 * #INFRASTRUCTURE} is assumed.
 */
public enum ErrorClass {
    /** Timeout, crash, lost lease, network, 408/425/429/5xx, disk full: retried, without verification feedback. */
    INFRASTRUCTURE(true),
    /** A verifier rejected the result, or it does not fit its schema: retried with the feedback. */
    QUALITY(true),
    /** Invalid input, missing permission, not found: the same attempt would fail again, so never retried. */
    PERMANENT(false),
    /** A person rejected it; only a person can request another attempt. */
    HUMAN_REJECTION(false),
    /** Money or tokens ran out; needs a person. */
    BUDGET(false),
    /** A dependency did not succeed: skipped. */
    DEPENDENCY(false),
    /** Ended on request. */
    CANCELLED(false);

    private final boolean retryable;

    ErrorClass(boolean retryable) {
        this.retryable = retryable;
    }

    /** Whether policy may schedule another attempt without a person. */
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
