package io.keelson.core.plan;

import java.util.Locale;

/** When a task may start, given how its upstreams ended. Judged when all upstreams are terminal. */
public enum TriggerRule {
    /** All upstreams completed. */
    ALL_SUCCESS,
    /** All upstreams ended, however. */
    ALL_DONE,
    /** All upstreams ended and none failed. */
    NONE_FAILED,
    /** At once, without regard to upstreams. */
    ALWAYS;

    private final String wire = name().toLowerCase(Locale.ROOT);

    public String wire() {
        return wire;
    }

    /**
     * Whether the rule holds once all upstreams are terminal.
     *
     * @param upstreams number of upstreams
     * @param completed how many of them completed
     * @param failed how many of them failed
     */
    public boolean holds(int upstreams, int completed, int failed) {
        return switch (this) {
            case ALL_SUCCESS -> completed == upstreams;
            case NONE_FAILED -> failed == 0;
            case ALL_DONE, ALWAYS -> true;
        };
    }
}
