package io.keelson.client;

import java.util.Locale;

/** Answers to a ticket. */
public enum Resolution {
    /** Go on: what failed is tried again with its failures forgiven, a new plan is approved. */
    RESUME,
    /** Go on without it. */
    SKIP,
    /** The run fails. */
    FAIL,
    /** The run is cancelled. */
    CANCEL;

    String wire() {
        return name().toLowerCase(Locale.ROOT);
    }
}
