package io.keelson.client.plan;

import java.util.Locale;

/** What becomes of a run whose external id another one bears already. */
public enum ExternalIdPolicy {
    /** It is refused with {@code EXTERNAL_ID_TAKEN}. */
    REJECT,
    /** The one that is there is the answer, as it is. */
    EXISTING,
    /** It takes the id over from one that has ended; beside one that has not it is refused. */
    AFTER_END;

    String wire() {
        return name().toLowerCase(Locale.ROOT);
    }
}
