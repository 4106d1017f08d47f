package io.keelson.client.worker;

import java.util.Locale;

/** The class of a failure, which decides whether it is retried. */
public enum ErrorClass {
    /** The surroundings failed (network, crash, timeout, rate limit): tried again. */
    INFRASTRUCTURE,
    /** The result is not good enough: tried again with the failure in hand. */
    QUALITY,
    /** Trying again cannot help (invalid input, not found, not allowed): never tried again. */
    PERMANENT;

    String wire() {
        return name().toLowerCase(Locale.ROOT);
    }
}
