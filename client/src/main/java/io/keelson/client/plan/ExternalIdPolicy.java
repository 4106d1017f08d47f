package io.keelson.client.plan;

import java.util.Locale;

/** Handling of a run whose external id another run already has. */
public enum ExternalIdPolicy {
    /** It is refused with {@code EXTERNAL_ID_TAKEN}. */
    REJECT,
    /** Returns the existing run unchanged. */
    EXISTING,
    /** The new run takes the id over from an ended run; it is refused while a run with the id is open. */
    AFTER_END;

    String wire() {
        return name().toLowerCase(Locale.ROOT);
    }
}
