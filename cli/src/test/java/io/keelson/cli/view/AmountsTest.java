package io.keelson.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AmountsTest {

    @ParameterizedTest
    @CsvSource({"PT0S, 0.0s, 0s", "PT-5S, 0.0s, 0s", "PT0.44S, 0.4s, 0s", "PT59.99S, 59.9s, 59s", "PT60S, 1m 00s, 1m",
            "PT3M5S, 3m 05s, 3m", "PT59M59S, 59m 59s, 59m", "PT2H4M, 2h 04m, 2h", "PT76H, 3d 04h, 3d"})
    void durations(Duration time, String exact, String age) {
        assertThat(AmountText.duration(time)).isEqualTo(exact);
        assertThat(AmountText.age(time)).isEqualTo(age);
    }

    @ParameterizedTest
    @CsvSource({"0, 0 B", "999, 999 B", "1000, 1.0 kB", "4249, 4.2 kB", "999949, 999.9 kB", "999950, 1.0 MB",
            "44560705, 44.6 MB", "9223372036854775807, 9.2 EB"})
    void sizes(long bytes, String text) {
        assertThat(AmountText.size(bytes)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({"0, 0 entries", "1, 1 entry", "2, 2 entries", "1000, '1,000 entries'"})
    void counts(long number, String text) {
        assertThat(AmountText.count(number, "entry", "entries")).isEqualTo(text);
        assertThat(AmountText.count(number, "task"))
                .isEqualTo(text.replace("entries", "tasks").replace("entry", "task"));
    }
}
