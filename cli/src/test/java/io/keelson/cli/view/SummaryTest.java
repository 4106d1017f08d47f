package io.keelson.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Artifact;
import io.keelson.api.run.Run;
import io.keelson.client.Json;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SummaryTest {

    /** A run is at work while it is planned, which its duration does not count. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"400 | 120000 | completed in 2m 00s: ",
            "23500 | 500 | completed in 23.5s (at work for 0.5s): ", "500 | 500 | completed in 0.5s: "})
    void theTimeAtWorkIsNeverSaidToBeMoreThanAllOfIt(long duration, long active, String text) {
        assertThat(lines(Map.of("id", "r", "name", "report", "state", "completed", "stateType", "terminal",
                "attemptNumber", 1, "durationMs", duration, "activeMs", active)).get(1)).contains(text);
    }

    /** Where nothing but a change helps, the change is named instead of the retry. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"PATH_NOT_ALLOWED | add the folder to KEELSON_ALLOWED_FOLDERS and restart",
            "EXPRESSION_FAILED | correct the expression, or the data that it reads, and run the mission again; ",
            "OUTBOUND_ADDRESS_REFUSED | set KEELSON_ALLOW_PRIVATE_ADDRESSES=true and restart the server, or",
            "MODEL_NOT_CONFIGURED | add the model to the file of KEELSON_MODELS and restart the server, or"})
    void anErrorThatARetryRepeatsHasTheChangeThatHelps(String code, String change) {
        assertThat(failed(code).getLast()).contains(change, "until then a retry fails the same way");
        assertThat(failed(code)).noneMatch(line -> line.contains("try again with"));
    }

    @Test
    void anotherErrorIsTriedAgain() {
        assertThat(failed("TASK_FAILED").getLast()).isEqualTo("try again with: keelson retry r --watch");
    }

    /** The server refuses a retry of a run whose work is undone. */
    @ParameterizedTest
    @CsvSource(delimiter = '|',
            value = {"running | undo of its completed work: running, waits for a person, see it with: keelson watch u",
                    "partly_undone | undo of its completed work: partly undone (2 undone, 1 not undone), see it with: keelson show u",
                    "nothing | try again with: keelson retry r --watch"})
    void anUndoneRunIsNotTriedAgain(String state, String text) {
        int ended = state.equals("partly_undone") ? 1 : 0;
        assertThat(
                lines(Map.of("id", "r", "name", "report", "state", "failed", "stateType", "terminal", "attemptNumber",
                        1, "maxAttempts", 3, "errorCode", "TASK_FAILED", "undo",
                        Map.of("state", state, "runId", "u", "undone", 2 * ended, "notUndone", ended,
                                "waitsForHumans", 1 - ended)))
                        .getLast())
                .isEqualTo(text);
    }

    /** `watch` reads an ended run without a server; `show` reads an open run without waiting. */
    @ParameterizedTest
    @CsvSource({"completed, terminal, watch", "running, active, show"})
    void artifactsAreCopiedByACommandThatWorks(String state, String type, String command) {
        Run run = Json.to(Json.of(Map.of("id", "r", "name", "report", "state", state, "stateType", type)), Run.class);
        Artifact artifact =
                Json.to(Json.of(Map.of("name", "report.md", "contentType", "text/markdown")), Artifact.class);

        assertThat(
                Summary.lines(run, new FailureView(run, List.of(), List.of()), List.of(), List.of(artifact), Map.of(),
                        "keelson", Style.PLAIN))
                .contains("copy them with: keelson " + command + " r --out DIR");
    }

    private static List<String> failed(String code) {
        return lines(Map.of("id", "r", "name", "report", "state", "failed", "stateType", "terminal", "attemptNumber",
                1, "maxAttempts", 3, "errorCode", code, "errorMessage", "m"));
    }

    private static List<String> lines(Map<String, Object> members) {
        Run run = Json.to(Json.of(members), Run.class);
        return Summary.lines(run, new FailureView(run, List.of(), List.of()), List.of(), List.of(), Map.of(),
                "keelson", Style.PLAIN);
    }
}
