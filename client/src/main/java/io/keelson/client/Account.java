package io.keelson.client;

import java.util.Locale;

/** The accounts of a workspace; every entry of its ledger moves an amount from one to another. */
public enum Account {
    /** The external source of grants. */
    FUNDING,
    /** Credits that runs can still reserve. */
    AVAILABLE,
    /** Credits reserved by open attempts of runs. */
    RESERVED,
    /** Credits that work has cost. */
    SPENT;

    /** As documents have it. */
    public String wire() {
        return name().toLowerCase(Locale.ROOT);
    }
}
