package io.keelson.server.annex.effect;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The outcome of an attempt. Codes are stable, {@code UPPER_SNAKE}. */
sealed interface CommandOutcome {

    /**
     * Done.
     *
     * @param reference the provider's name for it; null if absent
     */
    record Done(@Nullable String reference, ObjectNode response) implements CommandOutcome {}

    /** Not done, and a repeat would not change that. */
    record Refused(String code, String message) implements CommandOutcome {}

    /**
     * It did not arrive, and may be tried again.
     *
     * @param retryAfter minimum delay that the provider requested; null if absent
     */
    record NotDone(String code, String message, @Nullable Duration retryAfter) implements CommandOutcome {}

    /** Unknown whether it is done. */
    record Unknown(String code, String message) implements CommandOutcome {}
}
