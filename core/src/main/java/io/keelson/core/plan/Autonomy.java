package io.keelson.core.plan;

import java.util.Locale;

/** The approver of a plan. */
public enum Autonomy {
    /** A person. */
    APPROVE,
    /** By itself when the estimate is at or below the threshold, else a person. */
    AUTONOMOUS,
    /** No approval: an explicit opt-in. */
    FULL_AUTO;

    private final String wire = name().toLowerCase(Locale.ROOT);

    public String wire() {
        return wire;
    }

    /** The level of that name; {@link IllegalArgumentException} when there is none. */
    public static Autonomy of(String wire) {
        return valueOf(wire.toUpperCase(Locale.ROOT));
    }
}
