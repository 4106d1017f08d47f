package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.json.Json;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Groups of tasks with {@code repeat} over HTTP. */
@Breadth.Spread
class GroupRoundsApiTest {
    private static final String DRAFTS = """
            {"name": "drafts", "start": true, "config": {}, "plan": {"tasks": [
              {"id": "prepare", "steps": [{"tool": "echo", "input": {"n": 1}}]},
              {"id": "g", "depends_on": ["prepare"], "repeat": REPEAT, "group": [
                {"id": "draft", "steps": [{"tool": "echo", "input": {"round": "${ .round }",
                    "n": "${ (.previous.review.n // .tasks.prepare.output.n) + 1 }"}}]},
                {"id": "review", "depends_on": ["draft"],
                    "steps": [{"tool": "echo", "input": {"n": "${ .tasks[\\"g.draft\\"].output.n }"}}]}]},
              {"id": "after", "depends_on": ["g"], "steps": [{"tool": "echo", "input": {"all": "${ .tasks.g.output }"}}]}]},
             "output": "${ .tasks.after.output.all }"}""";

    @TempDir
    private static Path folder;

    private static ApiServer api;

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    @Test
    void roundsOfAGroupUseTheOutputsOfTheRoundBeforeAndEarlierOnesAreFolded() {
        String run =
                api.create(drafts("{\"until\": \".output.review.n >= 7 and .tasks[\\\"g.draft\\\"].output.round > 1\","
                        + " \"keep\": 2}"));
        api.awaitState(run, "completed");
        assertThat(api.run(run).get("output"))
                .isEqualTo(Json.read("{\"draft\": {\"n\": 7, \"round\": 6}, \"review\": {\"n\": 7}}"));
        List<JsonNode> tasks = tasks(run);
        assertThat(tasks).extracting(task -> task.get("key").stringValue()).containsExactly("prepare", "g",
                "g[4].draft", "g[4].review", "g[5].draft", "g[5].review", "g[6].draft", "g[6].review", "after");
        List<JsonNode> rounds = api.get("/api/v1/tasks/" + tasks.get(1).get("id").stringValue() + "/rounds").json()
                .get("items").valueStream().toList();
        assertThat(rounds).extracting(round -> round.get("round").asInt() + " " + round.at("/output/review/n").asInt()
                + " " + round.get("folded") + " " + round.at("/tasks/0/name").stringValue())
                .containsExactly("1 2 true draft",
                        "2 3 true draft", "3 4 true draft", "4 5 false draft", "5 6 false draft", "6 7 false draft");
        assertThat(api.count("select count(*) from task_rounds where run_id = '" + run + "'")).isEqualTo(6);
    }

    @Test
    void switchAndGroupInARoundAreDoneInEachRound() {
        String run = api.create("""
                {"name": "branches", "start": true, "plan": {"tasks": [
                  {"id": "g", "repeat": {"until": ".round >= 3"}, "output": "${ .tasks[\\"g.inner\\"].output }", "group": [
                    {"id": "route", "switch": [
                      {"name": "even", "when": ".round % 2 == 0", "tasks": [{"id": "even", "steps": [{"tool": "noop"}]}]},
                      {"else": [{"id": "odd", "steps": [{"tool": "noop"}]}]}]},
                    {"id": "inner", "depends_on": ["route"], "output": {"did": "${ .tasks[\\"g.route\\"].output.branch }"},
                     "group": [{"id": "x", "steps": [{"tool": "noop"}]}]}]}]},
                 "output": "${ .tasks.g.output }"}""");
        api.awaitState(run, "completed");
        assertThat(api.run(run).get("output")).isEqualTo(Json.read("{\"did\": \"else\"}"));
        Map<String, String> states = tasks(run).stream().collect(java.util.stream.Collectors
                .toMap(task -> task.get("key").stringValue(), task -> task.get("state").stringValue()));
        assertThat(states).containsEntry("g[1].even", "skipped").containsEntry("g[2].even", "completed")
                .containsEntry("g[2].odd", "skipped").containsEntry("g[3].odd", "completed")
                .containsEntry("g[3].inner.x", "completed");
    }

    @Test
    void forkBeginsWithARound() {
        String run = api.create(drafts("{\"until\": \".output.review.n >= 6\", \"keep\": 1}"));
        api.awaitState(run, "completed");
        String group = tasks(run).stream().filter(task -> task.get("key").stringValue().equals("g")).findFirst()
                .orElseThrow().get("id").stringValue();
        assertThat(api.get("/api/v1/tasks/" + group + "/explain").text())
                .contains("completed after round 5 of at most 50");
        for (String from : List.of("g#2", "g[5]")) {
            String fork = api.post("/api/v1/runs/" + run + "/fork", "{\"task\": \"" + from + "\"}").json().get("id")
                    .stringValue();
            api.awaitState(fork, "completed");
            assertThat(api.run(fork).at("/output/draft/round").asInt()).isEqualTo(5);
            assertThat(tasks(fork).get(2).get("key").stringValue()).isEqualTo(from.equals("g[5]") ? "g[5].draft"
                    : "g[4].draft");
        }
        assertThat(api.post("/api/v1/runs/" + run + "/fork", "{\"task\": \"g#7\"}").text())
                .contains("UNKNOWN_REFERENCE");
        assertThat(api.post("/api/v1/runs/" + run + "/fork", "{\"task\": \"g[2].draft\"}").text())
                .contains("UNKNOWN_REFERENCE", "'g#2'");
    }

    @Test
    void failedTaskOfARoundFailsTheRunAndARetryBeginsWithRoundOne() {
        String run = api.create(drafts("{\"until\": \"false\", \"max\": 2}"));
        api.awaitState(run, "failed");
        assertThat(api.run(run).get("error_code").stringValue()).isEqualTo("REPEAT_EXHAUSTED");
        api.post("/api/v1/runs/" + run + "/retry", "{}");
        Awaitility.await().untilAsserted(() -> {
            assertThat(api.run(run).get("attempt_number").asInt()).isEqualTo(2);
            assertThat(api.run(run).get("state").stringValue()).isEqualTo("failed");
        });
        assertThat(api.count("select count(*) from orchestration_events where event_type = 'task_round_completed'"
                + " and run_id = '" + run + "' and payload ->> 'round' = '1'")).isEqualTo(2);
    }

    @Test
    void agentOfTheGroupStartsOverWithRoundOne() {
        String run = api.create(drafts("{\"until\": \"false\", \"max\": 2}").replace("\"config\": {}",
                "\"config\": {\"agent_failure_mode\": \"retry\","
                        + " \"level_retry\": {\"max_attempts\": 2, \"base_delay_seconds\": 0.1}}"));
        api.awaitState(run, "failed");
        assertThat(api.run(run).get("error_code").stringValue()).isEqualTo("REPEAT_EXHAUSTED");
        assertThat(api.count("select count(*) from orchestration_events where event_type = 'task_round_completed'"
                + " and run_id = '" + run + "' and payload ->> 'round' = '1'")).isEqualTo(2);
    }

    /** With {@code ./check --all}: by medians, because a pause of the machine is no cost of a round. */
    @Test
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void roundAThousandOfAGroupTakesAsLongAsAnEarlyOne() {
        Assumptions.assumeTrue(Breadth.all());
        String run = api.create(drafts("{\"until\": \"false\", \"max\": 1000}"));
        Awaitility.await().atMost(Duration.ofMinutes(15)).pollInterval(Duration.ofSeconds(1))
                .until(() -> api.run(run).get("state").stringValue().equals("failed"));
        long early = RoundsApiTest.median(api, run, 100, 200);
        long late = RoundsApiTest.median(api, run, 900, 1_000);
        System.out.printf("rounds 100 to 200 of a group take %,d µs each, 900 to 1,000 %,d µs%n", early, late);
        assertThat(late).isLessThanOrEqualTo(early * 12 / 10);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            {"id": "a", "for_each": "${ [1] }", "steps": [{"tool": "noop"}]} | REPEAT_NESTED | /plan/tasks/1/group/0/for_each
            {"id": "a", "repeat": {"until": "true"}, "steps": [{"tool": "noop"}]} | REPEAT_NESTED | /plan/tasks/1/group/0/repeat
            {"id": "a", "repeat": {"until": "true"}, "group": [{"id": "x", "steps": [{"tool": "noop"}]}]} | REPEAT_NESTED | /plan/tasks/1/group/0/repeat
            {"id": "a", "depends_on": ["before"], "steps": [{"tool": "noop"}]} | DEPENDENCY_ACROSS_ROUNDS | /plan/tasks/1/group/0/depends_on/0
            {"id": "a", "when": "${ .item }", "steps": [{"tool": "noop"}]} | UNKNOWN_REFERENCE | /plan/tasks/1/group/0/when
            """)
    void refusesTasksThatCannotBeDoneInRounds(String task, String code, String pointer) {
        String problems = api.post("/api/v1/runs", """
                {"name": "bad", "plan": {"tasks": [{"id": "before", "steps": [{"tool": "noop"}]},
                  {"id": "g", "repeat": {"until": "true"}, "group": [%s]}]}}""".formatted(task)).text();
        assertThat(problems).contains("\"" + code + "\"").contains("\"" + pointer + "\"");
    }

    @Test
    void refusesToNameATaskOfARoundFromOutside() {
        String dependency = api.post("/api/v1/runs", """
                {"name": "bad", "plan": {"tasks": [
                  {"id": "g", "repeat": {"until": "true"}, "group": [{"id": "a", "steps": [{"tool": "noop"}]}]},
                  {"id": "b", "depends_on": ["g.a"], "steps": [{"tool": "noop"}]}]}}""").text();
        assertThat(dependency).contains("DEPENDENCY_ACROSS_ROUNDS").contains("/plan/tasks/1/depends_on/0");
        String reference = api.post("/api/v1/runs", """
                {"name": "bad", "plan": {"tasks": [
                  {"id": "g", "repeat": {"until": "true"}, "group": [{"id": "a", "steps": [{"tool": "noop"}]}]},
                  {"id": "b", "depends_on": ["g"],
                   "steps": [{"tool": "echo", "input": {"x": "${ .tasks[\\"g.a\\"].output }"}}]}]}}""").text();
        assertThat(reference).contains("REFERENCE_NOT_UPSTREAM").contains("name 'g'");
    }

    private static List<JsonNode> tasks(String run) {
        return api.get("/api/v1/runs/" + run + "/tasks").json().get("items").valueStream().toList();
    }

    private static String drafts(String repeat) {
        return DRAFTS.replace("REPEAT", repeat);
    }
}
