package io.keelson.server.annex.model.registry;

import java.util.Locale;

/** The requests to a model that are kept as artifacts of their runs. */
public enum RecordRequests {
    NONE,
    /** Requests without a usable answer. */
    FAILED, ALL;

    /** @param wire as the file of models names it */
    static RecordRequests of(String wire) {
        return valueOf(wire.toUpperCase(Locale.ROOT));
    }
}
