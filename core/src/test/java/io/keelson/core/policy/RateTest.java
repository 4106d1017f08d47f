package io.keelson.core.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RateTest {

    private static final Instant NOON = Instant.parse("2026-11-29T12:00:00Z");

    @ParameterizedTest(name = "{0} per minute, {1} ms ahead: {2} now, the next one after {3} ms")
    @CsvSource({
            "60,      0,   1,     0",
            "60,    500,   1,     0",
            "60,    501,   0,     1",
            "60,   1000,   0,   500",
            "60,   -500,   1,     0",
            "1,   60000,   0, 59500",
            "600,     0,   6,     0",
            "600,   300,   3,     0",
            "600,   500,   1,     0",
            "600,   501,   0,     1",
            "6000,    0,  51,     0",
            "6000,  505,   0,     5"})
    void admitsWhatTheRateAllows(long perMinute, long aheadMs, long available, long nextMs) {
        Rate rate = Rate.perMinute(perMinute);
        Instant until = NOON.plusMillis(aheadMs);

        assertThat(rate.available(until, NOON)).isEqualTo(available);
        assertThat(rate.next(until, NOON)).isEqualTo(NOON.plusMillis(nextMs));
    }

    @Test
    void noRateAdmitsNothing() {
        assertThat(Rate.perMinute(0).available(null, NOON)).isZero();
        assertThat(Rate.perMinute(0).next(null, NOON)).isNull();
    }

    @Test
    void nothingIsCountedBeforeTheFirst() {
        Rate rate = Rate.perMinute(600);

        assertThat(rate.available(null, NOON)).isEqualTo(6);
        assertThat(rate.after(null, NOON, 3)).isEqualTo(NOON.plusMillis(300));
        assertThat(rate.after(NOON.minusSeconds(50), NOON, 3)).isEqualTo(NOON.plusMillis(300));
    }

    /** Tokens of a request: their interval is no whole number of microseconds. */
    @Test
    void muchAtATimeLastsExactlyAsLong() {
        assertThat(Rate.perMinute(40_000_000).after(null, NOON, 1_000_000)).isEqualTo(NOON.plusMillis(1_500));
        assertThat(Rate.perMinute(7).micros(1)).isEqualTo(8_571_429);
    }

    /** A minute has no more than the rate, half a second's work and one, at any times of the claims; frequent claims get all of the rate. */
    @ParameterizedTest
    @ValueSource(longs = {1, 7, 59, 60, 61, 599, 7_000})
    void anyMinuteHasTheRate(long perMinute) {
        Rate rate = Rate.perMinute(perMinute);
        Random random = new Random(perMinute);
        Deque<Instant> last = new ArrayDeque<>();
        long allowed = perMinute + perMinute / 120 + 1;
        Instant until = null;
        Instant now = NOON;
        long all = 0;
        while (now.isBefore(NOON.plusSeconds(600))) {
            long admitted = Math.min(rate.available(until, now), 1 + random.nextInt(200));
            if (admitted > 0) {
                until = rate.after(until, now, admitted);
                all += admitted;
            }
            for (long i = 0; i < admitted; i++) {
                last.addLast(now);
            }
            Instant edge = now.minus(Duration.ofMinutes(1));
            while (!last.isEmpty() && !last.getFirst().isAfter(edge)) {
                last.removeFirst();
            }
            assertThat((long) last.size()).isLessThanOrEqualTo(allowed);
            now = now.plusMillis(1 + random.nextInt(100));
        }
        assertThat(all).isBetween((long) (perMinute * 10 * 0.98) - 1, perMinute * 10 + perMinute / 120 + 1);
    }
}
