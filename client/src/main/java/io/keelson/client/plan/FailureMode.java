package io.keelson.client.plan;

import java.util.Locale;

/** How a task, an agent or a run reacts to a part of it that failed for good. */
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
