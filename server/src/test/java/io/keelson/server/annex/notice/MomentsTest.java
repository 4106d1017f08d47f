package io.keelson.server.annex.notice;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MomentsTest {

    @ParameterizedTest
    @CsvSource({",2026-11-30 07:05 UTC", "Etc/UTC,2026-11-30 07:05 UTC", "UTC,2026-11-30 07:05 UTC",
            "Europe/Berlin,2026-11-30 08:05 Europe/Berlin"})
    void timeHasTheNameOfItsZone(String zone, String text) {
        assertThat(Moments.text(Instant.parse("2026-11-30T07:05:59Z"), zone)).isEqualTo(text);
    }
}
