package io.keelson.server.mission.plan;

import java.util.Locale;

/** Handling of a mission whose external id another run of the workspace already has. */
public enum ExternalIdPolicy {
    /** It is refused. */
    REJECT,
    /** That run is the answer, and no other is made. */
    EXISTING,
    /** It takes the id over when that run has ended, and is refused before. */
    AFTER_END;

    /** The policy of that name; {@link IllegalArgumentException} when there is none. */
    public static ExternalIdPolicy of(String wire) {
        return valueOf(wire.toUpperCase(Locale.ROOT));
    }
}
