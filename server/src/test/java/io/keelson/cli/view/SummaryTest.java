package io.keelson.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.Json;
import io.keelson.client.Run;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SummaryTest {

    /** A run is at work while it is planned, which its duration does not count. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"400 | 120000 | completed in 2m 00s: ",
            "23500 | 500 | completed in 23.5s (at work for 0.5s): ", "500 | 500 | completed in 0.5s: "})
    void theTimeAtWorkIsNeverSaidToBeMoreThanAllOfIt(long duration, long active, String text) {
        Run run = Json.to(Json.of(Map.of("id", "r", "name", "report", "state", "completed", "stateType", "terminal",
                "attemptNumber", 1, "durationMs", duration, "activeMs", active)), Run.class);
        List<String> lines =
                Summary.lines(run, new FailureView(run, List.of(), List.of()), List.of(), List.of(), Map.of(),
                        "keelson",
                        Style.PLAIN);
        assertThat(lines.get(1)).contains(text);
    }
}
