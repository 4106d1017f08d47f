package io.keelson.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class TablesTest {
    private final Results results = new Results();

    private void sample(String contender, Measure metric, double... values) {
        for (int round = 1; round <= values.length; round++) {
            results.add(new Sample("s", "8 in flight", contender, metric, round, values[round - 1], 7.4));
        }
    }

    @Test
    void aRowHasMedianRangeAndHowMuchBetterKeelsonIs() {
        sample("us", Measure.RUNS_PER_SECOND, 3_000, 2_000, 4_000);
        sample("them", Measure.RUNS_PER_SECOND, 400, 300, 500, 200);

        assertThat(new Tables(results, "us").markdown()).isEqualTo("""
                ### s

                |             | contender | runs/s              | Keelson is better by | others used |
                | ----------- | --------- | ------------------- | -------------------- | ----------- |
                | 8 in flight | us        | 3,000 (2,000–4,000) |                      | 7 %         |
                | 8 in flight | them      | 350 (200–500)       | 8.57 ×               | 7 %         |

                """);
    }

    @Test
    void lessTimeIsBetter() {
        sample("us", Measure.MICROS_PER_STEP, 10);
        sample("them", Measure.MICROS_PER_STEP, 25);

        assertThat(new Tables(results, "us").markdown()).contains("| them      | 25.0        | 2.50 ×");
    }

    @Test
    void aBarIsMetOnlyByAFigure() {
        assertThat(List.of(new Bar("at most 2", OptionalDouble.of(2), true, 2).met(),
                new Bar("at most 2", OptionalDouble.of(2.1), true, 2).met(),
                new Bar("at least 2", OptionalDouble.of(2), false, 2).met(),
                new Bar("at least 2", OptionalDouble.of(1.9), false, 2).met(),
                new Bar("at most 2", OptionalDouble.empty(), true, 2).met()))
                .containsExactly(true, false, true, false, false);
    }
}
