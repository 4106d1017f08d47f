package io.keelson.core.schedule;

import java.util.Locale;

/** What becomes of a time that comes while a run of the schedule is still open. */
public enum Overlap {
    /** Its run begins beside the other. */
    ALLOW,
    /** It makes no run. */
    SKIP,
    /** Its run is made when the other has ended. One may wait so; what comes meanwhile makes no run. */
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
