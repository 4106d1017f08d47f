package io.keelson.core.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

class DueTimesTest {
    private static final Instant TEN = Instant.parse("2026-11-21T22:00:00Z");
    private static final Instant MORNING = Instant.parse("2026-11-22T06:20:00Z");

    private static DueTimes.Rule rule(CatchUp catchUp, Duration window) {
        return new DueTimes.Rule(Cron.parseValid("0 * * * *"), ZoneOffset.UTC, catchUp, window, null);
    }

    private static Instant at(String time) {
        return Instant.parse("2026-11-22T" + time + ":00Z");
    }

    @Test
    void scheduledTimeIsDueUnderEachPolicy() {
        for (CatchUp each : CatchUp.values()) {
            assertThat(DueTimes.of(rule(each, Duration.ofDays(1)), TEN, TEN.plusSeconds(2)))
                    .isEqualTo(new DueTimes(List.of(TEN), 0, TEN.plusSeconds(3600)));
            assertThat(DueTimes.of(rule(each, Duration.ofDays(1)), TEN, TEN.minusSeconds(1)).times()).isEmpty();
        }
    }

    @Test
    void ofANightWithoutAServer() {
        assertThat(DueTimes.of(rule(CatchUp.SKIP, Duration.ofDays(1)), TEN, MORNING))
                .isEqualTo(new DueTimes(List.of(), 9, at("07:00")));
        assertThat(DueTimes.of(rule(CatchUp.LATEST, Duration.ofDays(1)), TEN, MORNING))
                .isEqualTo(new DueTimes(List.of(at("06:00")), 8, at("07:00")));
        assertThat(DueTimes.of(rule(CatchUp.ALL, Duration.ofDays(1)), TEN, MORNING).times()).hasSize(9).startsWith(TEN);
    }

    @Test
    void dueTimesStartNoEarlierThanTheWindow() {
        assertThat(DueTimes.of(rule(CatchUp.ALL, Duration.ofHours(2)), TEN, MORNING).times())
                .containsExactly(at("05:00"), at("06:00"));
        assertThat(DueTimes.of(rule(CatchUp.LATEST, Duration.ofMinutes(5)), TEN, MORNING).times()).isEmpty();
    }

    @Test
    void timeRightAfterAnOutageIsNotMissed() {
        assertThat(DueTimes.of(rule(CatchUp.SKIP, Duration.ofDays(1)), TEN, at("06:00").plusSeconds(30)))
                .isEqualTo(new DueTimes(List.of(at("06:00")), 8, at("07:00")));
    }

    @Test
    void dueTimesEndWithTheRuleAndContinueInBatches() {
        DueTimes.Rule ends =
                new DueTimes.Rule(Cron.parseValid("0 * * * *"), ZoneOffset.UTC, CatchUp.ALL, Duration.ofDays(1), TEN);
        assertThat(DueTimes.of(ends, TEN, MORNING)).isEqualTo(new DueTimes(List.of(TEN), 0, null));
        DueTimes.Rule minutes =
                new DueTimes.Rule(Cron.parseValid("* * * * *"), ZoneOffset.UTC, CatchUp.ALL, Duration.ofDays(30), null);
        DueTimes first = DueTimes.of(minutes, TEN, TEN.plus(Duration.ofDays(1)));
        assertThat(first.times()).hasSize(DueTimes.MAX_AT_ONCE);
        assertThat(first.next()).isEqualTo(TEN.plus(Duration.ofMinutes(DueTimes.MAX_AT_ONCE)));
    }
}
