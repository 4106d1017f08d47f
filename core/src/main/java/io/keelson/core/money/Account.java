package io.keelson.core.money;

import java.util.Locale;

/** Where a workspace's credits may be. */
public enum Account {
    /** Where grants come from: outside. */
    FUNDING,
    /** To be spent. */
    AVAILABLE,
    /** Set aside for attempts of runs that are open. */
    RESERVED, SPENT;

    private final String wire = name().toLowerCase(Locale.ROOT);

    public String wire() {
        return wire;
    }
}
