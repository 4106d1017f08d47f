package io.keelson.server.work.builtin;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;

/** The {@code Retry-After} header: seconds or an HTTP date. */
final class RetryAfter {

    private static final Duration MAX = Duration.ofDays(1);

    private RetryAfter() {}

    /** From now on, at most a day; null when the header is absent or makes no sense. */
    static @Nullable Duration parse(@Nullable String header, Instant now) {
        if (header == null) {
            return null;
        }
        try {
            Duration wait = header.strip().matches("[0-9]{1,9}")
                    ? Duration.ofSeconds(Long.parseLong(header.strip()))
                    : Duration.between(now,
                            ZonedDateTime.parse(header, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant());
            return wait.isNegative() ? Duration.ZERO : wait.compareTo(MAX) > 0 ? MAX : wait;
        } catch (DateTimeException e) {
            return null;
        }
    }
}
