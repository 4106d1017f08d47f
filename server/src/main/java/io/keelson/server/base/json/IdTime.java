package io.keelson.server.base.json;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** A time in an id: microseconds since 1970 to the base 36. The server writes such ids, and commands read times from them. */
public final class IdTime {
    private static final int RADIX = 36;

    private IdTime() {}

    /** @param micros since 1970 */
    public static String text(long micros) {
        return Long.toString(micros, RADIX);
    }

    /**
     * The microseconds since 1970 of a text of up to 12 digits and small letters.
     *
     * @throws NumberFormatException when the text has another form
     */
    public static long micros(String text) {
        return Long.parseLong(text, RADIX);
    }

    /** The time of an id, as an instant. */
    public static Instant of(String text) {
        return of(micros(text));
    }

    /** @param micros since 1970 */
    public static Instant of(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }
}
