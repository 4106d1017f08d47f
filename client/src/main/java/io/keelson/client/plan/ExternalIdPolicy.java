package io.keelson.client.plan;

import java.util.Locale;

/** Handling of a run whose external id another run already has. */
public enum ExternalIdPolicy {
    /** It is refused with {@code EXTERNAL_ID_TAKEN}. */
    REJECT,
    /** Returns the existing run unchanged. */
    EXISTING,
    /** It takes the id over from one that has ended; beside one that has not it is refused. */
    AFTER_END;

    String wire() {
        return name().toLowerCase(Locale.ROOT);
    }
}
