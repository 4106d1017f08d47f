package io.keelson.server.annex.trigger;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.trigger.Trigger;
import io.keelson.server.annex.trigger.FlowStore.Member;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FlowTimesTest {

    private static List<Member> received(String seconds, long bytes) {
        return Arrays.stream(seconds.split(" ")).map(each -> new Member(UUID.randomUUID(), UUID.randomUUID(),
                Instant.ofEpochSecond(Long.parseLong(each)), bytes)).toList();
    }

    @ParameterizedTest
    @CsvSource({"10, 10, 100, 20", "10 15, 10, 100, 25", "10 50 105, 10, 100, 110", "10, 100, 100, 110"})
    void debounceEndsAfterAQuietPeriodOrTheTimeout(String received, int period, int timeout, long due) {
        assertThat(FlowTimes.debounced(new Trigger.Debounce(null, period, timeout), received(received, 1)))
                .isEqualTo(Instant.ofEpochSecond(due));
    }

    @ParameterizedTest
    @CsvSource({"10, 10, 100, 1", "10 15 20, 10, 100, 3", "10 20 31, 10, 100, 2", "10 50 111, 100, 100, 2",
            "10 21, 10, 100, 1"})
    void debouncedGroupEndsWithItsPeriodOrTimeout(String received, int period, int timeout, int size) {
        List<Member> all = received(received, 1);

        assertThat(FlowTimes.burst(new Trigger.Debounce(null, period, timeout), all)).isEqualTo(all.subList(0, size));
    }

    @ParameterizedTest
    @CsvSource({"10, 3, 60, 70", "10 20, 3, 60, 70", "10 20 30, 3, 60, 30", "10 20 30 40, 3, 60, 30"})
    void batchEndsAfterAPeriodOrWhenItIsFull(String received, int max, int period, long due) {
        assertThat(FlowTimes.batched(new Trigger.Batch(null, max, period), received(received, 1),
                Instant.ofEpochSecond(30))).isEqualTo(Instant.ofEpochSecond(due));
    }

    @ParameterizedTest
    @CsvSource({"1 2 3, 2, 1, 2", "1 2 3, 5, 1, 3", "1 2 3, 5, 40, 2", "1 2 3, 5, 200, 1"})
    void batchHasMaximumEventsAndBytes(String received, int max, long bytes, int size) {
        List<Member> group = received(received, bytes);

        assertThat(FlowTimes.first(new Trigger.Batch(null, max, 60), group, 100)).isEqualTo(group.subList(0, size));
    }
}
