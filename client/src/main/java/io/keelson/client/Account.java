package io.keelson.client;

import java.util.Locale;

/** The accounts of a workspace; every entry of its ledger moves an amount from one to another. */
public enum Account {
    /** The external source of grants. */
    FUNDING,
    /** What runs may still reserve. */
    AVAILABLE,
    /** Credits reserved by open attempts of runs. */
    RESERVED,
    /** What work has cost. */
    SPENT;

    /** As documents have it. */
    public String wire() {
        return name().toLowerCase(Locale.ROOT);
    }
}
