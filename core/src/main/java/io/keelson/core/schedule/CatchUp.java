package io.keelson.core.schedule;

import java.util.Locale;

/** What becomes of times that passed while no server lived. */
public enum CatchUp {
    /** They make no run. */
    SKIP,
    /** The latest of them makes one. */
    LATEST,
    /** Each makes one. */
    ALL;

    private final String wire = name().toLowerCase(Locale.ROOT);

    public String wire() {
        return wire;
    }

    public static CatchUp of(String wire) {
        return valueOf(wire.toUpperCase(Locale.ROOT));
    }
}
