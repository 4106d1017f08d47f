package io.keelson.server.outlet.webhook;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;

/**
 * Hours of each day in which messages wait, in a time zone.
 *
 * @param until on the next day if it is not after {@code from}
 */
record QuietHours(LocalTime from, LocalTime until, ZoneId zone) {

    /** Time to the end of the hours; zero outside of them. */
    Duration left(Instant now) {
        ZonedDateTime here = now.atZone(zone);
        LocalTime time = here.toLocalTime();
        boolean overnight = !until.isAfter(from);
        boolean quiet = overnight ? !time.isBefore(from) || time.isBefore(until)
                : !time.isBefore(from) && time.isBefore(until);
        if (!quiet) {
            return Duration.ZERO;
        }
        boolean tomorrow = overnight && !time.isBefore(from);
        // A change of the clocks may skip or repeat the local time.
        Duration left = Duration.between(here,
                here.toLocalDate().plusDays(tomorrow ? 1 : 0).atTime(until).atZone(zone));
        return left.isPositive() ? left : Duration.ZERO;
    }
}
