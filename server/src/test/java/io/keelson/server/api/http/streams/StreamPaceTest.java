package io.keelson.server.api.http.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class StreamPaceTest {
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final Streams.Pace pace = new Streams.Pace();

    @Test
    void someStreamsBeginAtOnceAndTheOthersAtAPace() {
        long now = Long.MAX_VALUE - SECOND / 2;
        for (int i = 0; i < Streams.Pace.AT_ONCE; i++) {
            assertThat(pace.next(now)).isZero();
        }
        assertThat(pace.next(now)).isPositive();
        for (int i = 0; i < 598; i++) {
            pace.next(now);
        }
        assertThat(pace.next(now)).isBetween(Duration.ofMillis(1_990), Duration.ofMillis(2_010));
        assertThat(pace.next(now + 3 * SECOND)).as("all have begun").isZero();
    }
}
