package io.keelson.core.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

class DuesTest {
    private static final Instant TEN = Instant.parse("2026-11-21T22:00:00Z");
    private static final Instant MORNING = Instant.parse("2026-11-22T06:20:00Z");

    private static Dues.Rule rule(CatchUp catchUp, Duration window) {
        return new Dues.Rule(Cron.known("0 * * * *"), ZoneOffset.UTC, catchUp, window, null);
    }

    private static Instant at(String time) {
        return Instant.parse("2026-11-22T" + time + ":00Z");
    }

    @Test
    void aTimeThatComesIsDueUnderEachPolicy() {
        for (CatchUp each : CatchUp.values()) {
            assertThat(Dues.of(rule(each, Duration.ofDays(1)), TEN, TEN.plusSeconds(2)))
                    .isEqualTo(new Dues(List.of(TEN), 0, TEN.plusSeconds(3600)));
            assertThat(Dues.of(rule(each, Duration.ofDays(1)), TEN, TEN.minusSeconds(1)).times()).isEmpty();
        }
    }

    @Test
    void ofANightWithoutAServer() {
        assertThat(Dues.of(rule(CatchUp.SKIP, Duration.ofDays(1)), TEN, MORNING))
                .isEqualTo(new Dues(List.of(), 9, at("07:00")));
        assertThat(Dues.of(rule(CatchUp.LATEST, Duration.ofDays(1)), TEN, MORNING))
                .isEqualTo(new Dues(List.of(at("06:00")), 8, at("07:00")));
        assertThat(Dues.of(rule(CatchUp.ALL, Duration.ofDays(1)), TEN, MORNING).times()).hasSize(9).startsWith(TEN);
    }

    @Test
    void nobodyGoesFurtherBackThanTheWindow() {
        assertThat(Dues.of(rule(CatchUp.ALL, Duration.ofHours(2)), TEN, MORNING).times())
                .containsExactly(at("05:00"), at("06:00"));
        assertThat(Dues.of(rule(CatchUp.LATEST, Duration.ofMinutes(5)), TEN, MORNING).times()).isEmpty();
    }

    @Test
    void aTimeThatComesRightAfterTheOutageIsNotMissed() {
        assertThat(Dues.of(rule(CatchUp.SKIP, Duration.ofDays(1)), TEN, at("06:00").plusSeconds(30)))
                .isEqualTo(new Dues(List.of(at("06:00")), 8, at("07:00")));
    }

    @Test
    void endsAtItsEndAndGoesOnInPieces() {
        Dues.Rule ends = new Dues.Rule(Cron.known("0 * * * *"), ZoneOffset.UTC, CatchUp.ALL, Duration.ofDays(1), TEN);
        assertThat(Dues.of(ends, TEN, MORNING)).isEqualTo(new Dues(List.of(TEN), 0, null));
        Dues.Rule minutes = new Dues.Rule(Cron.known("* * * * *"), ZoneOffset.UTC, CatchUp.ALL, Duration.ofDays(30),
                null);
        Dues first = Dues.of(minutes, TEN, TEN.plus(Duration.ofDays(1)));
        assertThat(first.times()).hasSize(Dues.MOST_AT_ONCE);
        assertThat(first.next()).isEqualTo(TEN.plus(Duration.ofMinutes(Dues.MOST_AT_ONCE)));
    }
}
