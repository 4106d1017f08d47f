package io.keelson.core.money;

import java.util.Locale;

/** The accounts of a workspace's credits. */
public enum LedgerAccount {
    /** The external source of grants; it has no balance. */
    FUNDING,
    /** Available to spend. */
    AVAILABLE,
    /** Reserved for open attempts of runs. */
    RESERVED,
    /** Spent on work. */
    SPENT;

    private final String wire = name().toLowerCase(Locale.ROOT);

    public String wire() {
        return wire;
    }

    /** @throws IllegalArgumentException when no account has that name */
    public static LedgerAccount of(String wire) {
        return LedgerAccount.valueOf(wire.toUpperCase(Locale.ROOT));
    }
}
