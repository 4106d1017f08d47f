package io.keelson.client;

import java.util.Locale;

/** Answers to a ticket. */
public enum Resolution {
    /** Continue: what failed is tried again with its failures forgiven, a new plan is approved. */
    RESUME,
    /** Continue without it. */
    SKIP,
    /** A person has undone the work by other means; for tickets of undos. */
    DONE,
    /** The run fails. */
    FAIL,
    /** The run is cancelled. */
    CANCEL;

    String wire() {
        return name().toLowerCase(Locale.ROOT);
    }
}
