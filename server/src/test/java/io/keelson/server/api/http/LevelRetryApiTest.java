package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How often a run and its agents start over by themselves, under the mode {@code retry}. */
@Breadth.Spread
class LevelRetryApiTest {

    @TempDir
    private Path folder;

    private ApiServer api;

    @BeforeEach
    void start() throws Exception {
        api = new ApiServer(folder);
    }

    @AfterEach
    void stop() throws Exception {
        api.close();
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(delimiter = '|', value = {
            "\"max_attempts\": 2 | 2", "\"max_failures\": 1 | 1", "\"preset\": \"gate4\" | 3",
            "\"max_attempts\": 9 | 4", "\"factor\": 1 | 4"})
    void attemptsOfARun(String level, int attempts) {
        String run = api.create(mission("failure_mode", level));
        api.awaitState(run, "failed");

        assertThat(api.get("/api/v1/runs/" + run + "/attempts").json().get("items")).hasSize(attempts);
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(delimiter = '|', value = {"\"max_attempts\": 2 | 2", "\"max_failures\": 1 | 1"})
    void attemptsOfAnAgent(String level, int attempts) {
        String run = api.create(mission("agent_failure_mode", level));
        api.awaitState(run, "failed");

        assertThat(api.get("/api/v1/runs/" + run + "/events?limit=500").json().get("items").valueStream()
                .filter(event -> event.get("event_type").stringValue().equals("agent_retrying"))).hasSize(attempts - 1);
    }

    @ParameterizedTest
    @CsvSource({"completed, noop, 2", "skipped, fail, 3"})
    void retryOfARunThatEndedWithFailuresNamesTheFork(String state, String tool, int failures) {
        String run = api.create("""
                {"name": "partial", "start": true, "config": {"escalation": {"enabled": false}, "failure_mode": "continue"},
                 "plan": {"tasks": [
                  {"id": "bad", "steps": [{"name": "no", "tool": "fail", "input": {"class": "permanent"}}]},
                  {"id": "lenient", "failure_mode": "continue", "steps": [
                   {"name": "no", "tool": "fail", "input": {"class": "permanent"}},
                   {"name": "maybe", "tool": "%s", "retry": {"max_attempts": 1}}]}]}}""".formatted(tool));
        api.awaitState(run, state);
        ApiServer.Answer refused = api.post("/api/v1/runs/" + run + "/retry", "{}");
        assertThat(refused.status()).isEqualTo(409);
        assertThat(refused.json().get("detail").stringValue()).startsWith("cannot retry a run that is " + state
                + " with failures: " + failures + "; `fork` it from a task that failed");
    }

    private static String mission(String mode, String level) {
        return """
                {"name": "unlucky", "start": true, "config": {"autonomy": {"level": "full_auto"}, "%s": "retry",
                 "max_attempts": 4, "level_retry": {"base_delay_seconds": 0, %s}}, "plan": {"tasks": [{"id": "one", "suggested_agent": {"agent_name": "w"},
                 "steps": [{"name": "no", "tool": "fail", "input": {"code": "NO"}, "retry": {"max_attempts": 1}}]}]}}"""
                .formatted(mode, level);
    }
}
