package io.keelson.core.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CronTest {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

    private static List<String> times(String cron, String after, ZoneId zone, int count) {
        List<String> times = new ArrayList<>();
        Instant at = OffsetDateTime.parse(after).toInstant();
        for (int i = 0; i < count; i++) {
            at = Cron.parseValid(cron).next(at, zone);
            times.add(at.atZone(zone).toOffsetDateTime().toString());
        }
        return times;
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "*/15 9-17 * * MON-FRI | 2026-11-20T17:44:59Z | 2026-11-20T17:45Z 2026-11-23T09:00Z",
            "0 0 29 2 *            | 2096-03-01T00:00:00Z | 2104-02-29T00:00Z 2108-02-29T00:00Z",
            "30 4 1,15 * 5         | 2026-11-01T05:00:00Z | 2026-11-06T04:30Z 2026-11-13T04:30Z 2026-11-15T04:30Z",
            "5/20 0 1 JAN,jul *    | 2026-11-01T00:00:00Z | 2027-01-01T00:05Z 2027-01-01T00:25Z 2027-01-01T00:45Z 2027-07-01T00:05Z",
            "0 12 * * 7            | 2026-11-21T12:00:00Z | 2026-11-22T12:00Z 2026-11-29T12:00Z",
            "0 12 * * sun          | 2026-11-22T12:00:00Z | 2026-11-29T12:00Z",
            "0 12 * * FRI-SUN      | 2026-11-19T12:00:00Z | 2026-11-20T12:00Z 2026-11-21T12:00Z 2026-11-22T12:00Z 2026-11-27T12:00Z",
            "0 12 */2 * MON        | 2026-11-01T12:00:00Z | 2026-11-09T12:00Z 2026-11-23T12:00Z",
            "@daily                | 2026-12-31T00:00:00Z | 2027-01-01T00:00Z",
            "59 23 31 12 *         | 2026-12-31T23:59:00Z | 2027-12-31T23:59Z",
    })
    void says(String cron, String after, String expected) {
        List<String> wanted = List.of(expected.split(" "));
        assertThat(times(cron, after, ZoneId.of("UTC"), wanted.size())).isEqualTo(wanted);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8",
            "*/0 * * * *", "5-1 * * * *", "a * * * *", "1,,2 * * * *", "1-2-3 * * * *", "*/2/2 * * * *", "0 0 30 2 *",
            "* * * * * *", "@often", "-1 * * * *", "99999999999 * * * *", "* * * FOO *", "0 0 1 DEC-JAN *"})
    void refuses(String cron) {
        assertThat(Cron.read(cron)).isInstanceOf(Cron.Reading.Refused.class);
    }

    @Test
    void aLocalTimeThatIsSkippedFiresOnceRightAfter() {
        assertThat(times("30 2 * * *", "2026-03-28T12:00:00+01:00", BERLIN, 2))
                .containsExactly("2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00");
        assertThat(times("0,30 2,3 * * *", "2026-03-29T01:59:59+01:00", BERLIN, 3))
                .containsExactly("2026-03-29T03:00+02:00", "2026-03-29T03:30+02:00", "2026-03-30T02:00+02:00");
    }

    @Test
    void repeatedLocalTimeFiresOnce() {
        assertThat(times("30 2 * * *", "2026-10-24T12:00:00+02:00", BERLIN, 2))
                .containsExactly("2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00");
        assertThat(times("30 2 * * *", "2026-10-25T02:10:00+01:00", BERLIN, 1))
                .containsExactly("2026-10-26T02:30+01:00");
    }

    @Test
    void hourlyScheduleFollowsElapsedHours() {
        assertThat(times("15 * * * *", "2026-10-25T01:30:00+02:00", BERLIN, 3)).containsExactly(
                "2026-10-25T02:15+02:00", "2026-10-25T02:15+01:00", "2026-10-25T03:15+01:00");
        assertThat(times("15 * * * *", "2026-03-29T01:20:00+01:00", BERLIN, 2))
                .containsExactly("2026-03-29T03:15+02:00", "2026-03-29T04:15+02:00");
        assertThat(times("*/30 * 29 3 *", "2026-03-28T12:00:00+01:00", ZoneId.of("Australia/Lord_Howe"), 1))
                .containsExactly("2026-03-29T00:00+11:00");
    }

    /** Against a slow reading of the rules, minute by minute, over years with every kind of change of clocks. */
    @Test
    void agreesWithAMinuteByMinuteSearch() {
        Random random = new Random(20261121);
        List<String> zones = List.of("Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu",
                "America/Sao_Paulo", "Africa/Casablanca", "Pacific/Apia", "UTC");
        for (int i = 0; i < 300; i++) {
            ZoneId zone = ZoneId.of(zones.get(random.nextInt(zones.size())));
            String text = random.nextInt(60) + " " + (random.nextInt(3) == 0 ? "*" : random.nextInt(24)) + " * * *";
            Cron cron = Cron.parseValid(text);
            Instant start = Instant.parse("2011-12-01T00:00:00Z").plusSeconds(random.nextInt(500_000_000));
            var change = random.nextBoolean() ? zone.getRules().nextTransition(start) : null;
            Instant after = change == null ? start : change.getInstant().minusSeconds(random.nextInt(20_000));
            assertThat(cron.next(after, zone)).as("%s after %s in %s", text, after, zone)
                    .isEqualTo(slow(text, after, zone));
        }
    }

    private static Instant slow(String text, Instant after, ZoneId zone) {
        String[] fields = text.split(" ");
        boolean open = fields[1].equals("*");
        for (Instant at = Instant.ofEpochSecond(after.getEpochSecond() / 60 * 60 + 60);; at = at.plusSeconds(60)) {
            LocalDateTime local = at.atZone(zone).toLocalDateTime();
            if (hits(fields, local) && (open || zone.getRules().getValidOffsets(local).getFirst()
                    .equals(zone.getRules().getOffset(at)))) {
                return at;
            }
            LocalDateTime before = at.minusSeconds(60).atZone(zone).toLocalDateTime();
            for (LocalDateTime gone = before.plusMinutes(1); !open && gone.isBefore(local); gone =
                    gone.plusMinutes(1)) {
                if (hits(fields, gone)) {
                    return at;
                }
            }
        }
    }

    private static boolean hits(String[] fields, LocalDateTime local) {
        return local.getMinute() == Integer.parseInt(fields[0])
                && (fields[1].equals("*") || local.getHour() == Integer.parseInt(fields[1]));
    }
}
