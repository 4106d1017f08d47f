package io.keelson.cli.common;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.util.Optional;

/** Times as they are written on a command line. */
public final class TimeArgument {

    private TimeArgument() {}

    /** RFC 3339 with an offset, or without one: then in this machine's time zone. */
    public static Instant of(String text) {
        return read(text).orElseThrow(() -> CliException.usage("INVALID_TIME", "'" + text
                + "' is not a time such as 2026-12-01T06:00:00Z, or 2026-12-01T06:00 in this machine's time zone"));
    }

    /** Reads a time; empty if the text is not a time. */
    public static Optional<Instant> read(String text) {
        try {
            return Optional.of(OffsetDateTime.parse(text).toInstant());
        } catch (DateTimeException e) {
            try {
                return Optional.of(LocalDateTime.parse(text).atZone(ZoneId.systemDefault()).toInstant());
            } catch (DateTimeException none) {
                return Optional.empty();
            }
        }
    }
}
