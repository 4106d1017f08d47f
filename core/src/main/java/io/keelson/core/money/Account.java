package io.keelson.core.money;

import java.util.Locale;

/** Where a workspace's credits may be. */
public enum Account {
    /** Where grants come from: outside; it has no balance. */
    FUNDING,
    /** To be spent. */
    AVAILABLE,
    /** Set aside for attempts of runs that are open. */
    RESERVED,
    /** What work has cost. */
    SPENT;

    private final String wire = name().toLowerCase(Locale.ROOT);

    public String wire() {
        return wire;
    }

    /** @throws IllegalArgumentException when no account is called so */
    public static Account of(String wire) {
        return Account.valueOf(wire.toUpperCase(Locale.ROOT));
    }
}
