package io.keelson.core.schedule;

import java.util.Locale;

/** Handling of a time while a run of the schedule is still open. */
public enum Overlap {
    /** Its run starts beside the other. */
    ALLOW,
    /** It starts no run. */
    SKIP,
    /** Its run starts when the other has ended. Only one may wait; further times meanwhile start no run. */
    QUEUE,
    /** The other is cancelled first. */
    CANCEL_RUNNING;

    private final String wire = name().toLowerCase(Locale.ROOT);

    public String wire() {
        return wire;
    }

    public static Overlap of(String wire) {
        return valueOf(wire.toUpperCase(Locale.ROOT));
    }
}
