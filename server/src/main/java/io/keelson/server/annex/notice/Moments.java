package io.keelson.server.annex.notice;

import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Times as people read them, in the time zone of a receiver. */
final class Moments {

    private static final DateTimeFormatter MINUTE = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm", Locale.ROOT);

    private Moments() {}

    /**
     * Date, minute and zone, such as {@code 2026-11-30 08:05 Europe/Berlin}.
     *
     * @param zone null for UTC
     */
    static String text(Instant time, @Nullable String zone) {
        ZoneId at = zone == null ? ZoneOffset.UTC : ZoneId.of(zone);
        boolean utc = at.normalized().equals(ZoneOffset.UTC);
        return MINUTE.format(time.atZone(at)) + " " + (utc ? "UTC" : zone);
    }
}
