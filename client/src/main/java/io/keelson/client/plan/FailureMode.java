package io.keelson.client.plan;

import java.util.Locale;

/** Reaction of a task, an agent or a run to the final failure of one of its parts. */
public enum FailureMode {
    /** It fails, too; its other parts are cancelled. */
    FAIL_FAST,
    /** The failure is ignored and the other parts continue. */
    CONTINUE,
    /** It starts over, a bounded number of times. */
    RETRY;

    String wire() {
        return name().toLowerCase(Locale.ROOT);
    }
}
