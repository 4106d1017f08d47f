package io.keelson.core.money;

import java.util.Locale;

/** The purpose of a charge. */
public enum Purpose {
    /** The tasks of the plan. */
    WORK,
    /** Plans of planners. */
    PLANNING,
    /** Checks and judges of outputs. */
    VERIFICATION,
    /** Summaries of an agent's earlier turns. */
    COMPACTION,
    /** Requests of programs of steps to models. */
    GATEWAY;

    private final String wire = name().toLowerCase(Locale.ROOT);

    public String wire() {
        return wire;
    }
}
