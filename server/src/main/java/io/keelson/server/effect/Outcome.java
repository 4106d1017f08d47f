package io.keelson.server.effect;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** What came of an attempt. Codes are stable, {@code UPPER_SNAKE}. */
public sealed interface Outcome {

    /**
     * It is done.
     *
     * @param reference what the other side calls it; null where it gave no name
     */
    record Done(@Nullable String reference, ObjectNode response) implements Outcome {}

    /** It is not done, and asking again would not change that. */
    record Refused(String code, String message) implements Outcome {}

    /**
     * It did not arrive, and may be tried again.
     *
     * @param retryAfter how long the other side wants to be left alone; null when it did not say
     */
    record NotDone(String code, String message, @Nullable Duration retryAfter) implements Outcome {}

    /** Nobody knows whether it is done. */
    record Unknown(String code, String message) implements Outcome {}
}
