package io.keelson.core.schedule;

import java.util.Locale;

/** Handling of times that passed without a running server. */
public enum CatchUp {
    /** They start no run. */
    SKIP,
    /** The latest of them starts a run. */
    LATEST,
    /** Each starts a run. */
    ALL;

    private final String wire = name().toLowerCase(Locale.ROOT);

    public String wire() {
        return wire;
    }

    public static CatchUp of(String wire) {
        return valueOf(wire.toUpperCase(Locale.ROOT));
    }
}
