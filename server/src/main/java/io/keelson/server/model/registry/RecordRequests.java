package io.keelson.server.model.registry;

import java.util.Locale;

/** Which requests to a model are kept as artifacts of their runs. */
public enum RecordRequests {
    NONE,
    /** Those that get no answer, or one that cannot be used. */
    FAILED,
    ALL;

    /** @param wire as the file of models names it */
    static RecordRequests of(String wire) {
        return valueOf(wire.toUpperCase(Locale.ROOT));
    }
}
