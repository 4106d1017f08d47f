package io.keelson.server.outlet.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Time that is left of quiet hours, over midnight and changes of the clocks. */
class QuietHoursTest {

    @ParameterizedTest
    @CsvSource({
            "22:00, 07:00, 2026-11-30T20:59:59Z, PT0S", "22:00, 07:00, 2026-11-30T21:00:00Z, PT9H",
            "22:00, 07:00, 2026-11-30T23:30:00Z, PT6H30M", "22:00, 07:00, 2026-12-01T06:00:00Z, PT0S",
            "12:00, 13:00, 2026-11-30T11:15:00Z, PT45M", "12:00, 13:00, 2026-11-30T12:00:00Z, PT0S",
            "22:00, 07:00, 2026-03-28T21:00:00Z, PT8H", "22:00, 07:00, 2026-10-24T20:00:00Z, PT10H",
            "01:00, 02:30, 2026-03-29T00:30:00Z, PT1H"})
    void messagesWaitUntilTheEndOfQuietHours(LocalTime from, LocalTime until, Instant now, Duration left) {
        assertThat(new QuietHours(from, until, ZoneId.of("Europe/Berlin")).left(now)).isEqualTo(left);
    }
}
