package io.keelson.client.plan;

import java.util.Locale;

/** When a task may start, given how its upstreams ended. */
public enum TriggerRule {
    /** All upstreams completed. */
    ALL_SUCCESS,
    /** All upstreams ended, however. */
    ALL_DONE,
    /** All upstreams ended and none failed. */
    NONE_FAILED,
    /** At once; upstreams are not looked at. */
    ALWAYS;

    String wire() {
        return name().toLowerCase(Locale.ROOT);
    }
}
