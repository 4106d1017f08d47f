package io.keelson.server.money;

import java.util.Arrays;
import java.util.Locale;

/** The accounts of a workspace. Every row of the ledger moves an amount from one to another. */
public enum Account {
    /** The world outside, where grants come from; it has no balance. */
    FUNDING,
    /** What runs may still reserve. */
    AVAILABLE,
    /** What open attempts of runs have set aside. */
    RESERVED,
    /** What work has cost. */
    SPENT;

    /** As documents and the database have it. */
    public String wire() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** @throws IllegalArgumentException when no account is called so */
    public static Account of(String wire) {
        return Arrays.stream(values()).filter(account -> account.wire().equals(wire)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no account " + wire));
    }
}
