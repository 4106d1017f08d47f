package io.keelson.core.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RetryPolicyTest {
    private static final RetryPolicy EXACT = new RetryPolicy(20, 20, Duration.ofMillis(100), Duration.ofSeconds(30), 2,
            0);

    @ParameterizedTest(name = "after {0} failures: {1} ms")
    @CsvSource({"1, 100", "2, 200", "3, 400", "4, 800", "9, 25600", "10, 30000", "11, 30000", "1000, 30000",
            "2000000000, 30000"})
    void theDelayDoublesUpToItsLimit(int failures, long millis) {
        assertThat(EXACT.delay(failures, 42)).isEqualTo(Duration.ofMillis(millis));
    }

    @Test
    void jitterStaysWithinItsFractionAndReachesBothSides() {
        long[] delays = LongStream.range(0, 10_000).map(seed -> RetryPolicy.STEP.delay(4, seed).toMillis()).toArray();
        assertThat(LongStream.of(delays).min().orElseThrow()).isBetween(720L, 740L);
        assertThat(LongStream.of(delays).max().orElseThrow()).isBetween(860L, 880L);
        assertThat(LongStream.of(delays).average().orElseThrow()).isBetween(795.0, 805.0);
    }

    @Test
    void theSameDecisionYieldsTheSameDelay() {
        for (long seed : new long[] {0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
            assertThat(RetryPolicy.STEP.delay(2, seed)).isEqualTo(RetryPolicy.STEP.delay(2, seed));
        }
        assertThat(RetryPolicy.STEP.delay(4, 1)).isNotEqualTo(RetryPolicy.STEP.delay(4, 2));
    }

    /** The delays before retries 1, 2, 3 and the number of attempts of each preset. */
    @ParameterizedTest(name = "preset {0}: {1} attempts, delays {2}, {3}, {4} ms")
    @CsvSource({"gate4, 3, 1000, 2000, 4000", "lifecycle, 4, 1000, 2000, 4000", "steps, 3, 200, 400, 800"})
    void presetsAreThoseOfTheirDocuments(String name, int attempts, long first, long second, long third) {
        RetryPolicy preset = RetryPolicy.preset(name).orElseThrow();
        assertThat(preset.maxAttempts()).isEqualTo(attempts);
        assertThat(preset.delay(1, 7).toMillis()).isEqualTo(first);
        assertThat(preset.delay(2, 7).toMillis()).isEqualTo(second);
        assertThat(preset.delay(3, 7).toMillis()).isEqualTo(third);
    }

    @ParameterizedTest
    @CsvSource({"gate4, 30000", "lifecycle, 4000", "steps, 30000"})
    void presetsAreCapped(String name, long limit) {
        assertThat(RetryPolicy.preset(name).orElseThrow().delay(30, 7).toMillis()).isEqualTo(limit);
    }

    @Test
    void anUnknownPresetIsNone() {
        assertThat(RetryPolicy.preset("forever")).isEmpty();
    }

    @Test
    void theStepLevelIsTheHandoffs() {
        assertThat(RetryPolicy.STEP)
                .isEqualTo(new RetryPolicy(3, 3, Duration.ofMillis(100), Duration.ofSeconds(30), 2, 0.1));
    }
}
