package io.keelson.server.engine.commit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class DatabaseTimeTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
    private final DatabaseTime time = new DatabaseTime(nanos::get);

    @Test
    void goesOnFromTheLastWordUntilThatIsOld() {
        assertThat(time.now()).isNull();
        time.set(NOON);
        pass(Duration.ofNanos(999_999_999));
        assertThat(time.now()).isEqualTo(NOON.plusNanos(999_999_000));
        pass(Duration.ofNanos(2));
        assertThat(time.now()).isNull();
    }

    @Test
    void aWordThatArrivesLateDoesNotSetItBack() {
        time.set(NOON);
        pass(Duration.ofMillis(500));
        assertThat(time.now()).isEqualTo(NOON.plusMillis(500));

        time.set(NOON.plusMillis(480));
        assertThat(time.now()).isEqualTo(NOON.plusMillis(500));
        pass(Duration.ofMillis(30));
        assertThat(time.now()).isEqualTo(NOON.plusMillis(510));
    }

    @Test
    void timeNeverGoesBack() {
        time.set(NOON.plusMillis(40));
        time.set(NOON);
        assertThat(time.now()).isEqualTo(NOON.plusMillis(40));
    }

    @Test
    void aClockThatWasSetBackIsFollowed() {
        time.set(NOON);
        time.set(NOON.minusSeconds(2));
        assertThat(time.now()).isEqualTo(NOON.minusSeconds(2));
    }

    private void pass(Duration passed) {
        nanos.addAndGet(passed.toNanos());
    }
}
