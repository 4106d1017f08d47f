package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.json.Json;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
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

/** Tasks with {@code repeat} over HTTP: rounds, what is left of them, and refusals. */
@Breadth.Spread
class RoundsApiTest {
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
    void roundsUseTheOutputOfTheRoundBeforeAndEarlierOnesAreFolded() {
        String run = api.create(counting("{\"until\": \".output.n >= .inputs.enough\", \"max\": 50, \"keep\": 2}"));
        api.awaitState(run, "completed");
        assertThat(api.get("/api/v1/runs/" + run).json().at("/output").asInt()).isEqualTo(12);

        List<JsonNode> tasks = api.get("/api/v1/runs/" + run + "/tasks").json().get("items").valueStream().toList();
        assertThat(tasks).extracting(task -> task.get("key").stringValue() + " " + task.get("round"))
                .containsExactly("count 12", "count[10] 10", "count[11] 11", "count[12] 12");
        assertThat(api.get("/api/v1/runs/" + run).json().get("task_count").asInt()).isEqualTo(4);

        String loop = tasks.getFirst().get("id").stringValue();
        List<JsonNode> rounds = api.get("/api/v1/tasks/" + loop + "/rounds").json().get("items").valueStream().toList();
        assertThat(rounds).extracting(round -> round.get("round").asInt())
                .containsExactlyElementsOf(IntStream.rangeClosed(1, 12).boxed().toList());
        assertThat(rounds).extracting(round -> round.at("/output/n").asInt())
                .containsExactlyElementsOf(IntStream.rangeClosed(1, 12).boxed().toList());
        assertThat(rounds).filteredOn(round -> round.get("folded").booleanValue()).hasSize(9);
        assertThat(rounds.getFirst().at("/output/before")).isEqualTo(Json.read("null"));
        assertThat(rounds.get(4).at("/output/before").asInt()).isEqualTo(4);

        JsonNode page = api.get("/api/v1/tasks/" + loop + "/rounds?limit=5").json();
        assertThat(page.get("items")).hasSize(5);
        assertThat(api.get("/api/v1/tasks/" + tasks.getLast().get("id").stringValue() + "/rounds").json().get("items"))
                .isEmpty();
        assertThat(api.count("select count(*) from orchestration_events where event_type = 'task_round_completed'"
                + " and run_id = '" + run + "'")).isEqualTo(12);
    }

    @Test
    void rowsOfARunDoNotGrowWithItsRounds() {
        String run = api.create(counting("{\"until\": \".output.n >= 40\", \"keep\": 3}"));
        api.awaitState(run, "completed");
        String of = " where run_id = '" + run + "'";
        assertThat(api.count("select count(*) from orchestration_tasks" + of)).isEqualTo(5);
        assertThat(api.count("select count(*) from task_steps" + of)).isEqualTo(8);
        assertThat(api.count("select count(*) from task_rounds" + of)).isEqualTo(36);
        assertThat(api.count("select count(*) from board_tasks b where b.source_type = 'orchestration_task'"
                + " and b.source_id in (select id::text from orchestration_tasks" + of + ")")).isEqualTo(1);
    }

    /** With {@code ./check --all}: by medians, because a pause of the machine is no cost of a round. */
    @Test
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    void roundTenThousandTakesAsLongAsTheHundredth() {
        Assumptions.assumeTrue(Breadth.all());
        String run = api.create(counting("{\"until\": \"false\", \"max\": 10000}"));
        Awaitility.await().atMost(Duration.ofMinutes(25)).pollInterval(Duration.ofSeconds(1))
                .until(() -> api.run(run).get("state").stringValue().equals("failed"));
        long early = median(api, run, 100, 200);
        long late = median(api, run, 9_900, 10_000);
        System.out.printf("rounds 100 to 200 take %,d µs each, 9,900 to 10,000 %,d µs%n", early, late);
        assertThat(late).isLessThanOrEqualTo(early * 12 / 10);
    }

    /** Microseconds between the ends of two rounds. */
    static long median(ApiServer api, String run, int from, int to) {
        return api.count("""
                select percentile_disc(0.5) within group (order by took)::bigint
                  from (select extract(epoch from created_at - lag(created_at) over (order by seq)) * 1000000 as took,
                            (payload ->> 'round')::int as round
                          from orchestration_events where run_id = '%s' and event_type = 'task_round_completed') rounds
                 where round > %d and round <= %d""".formatted(run, from, to));
    }

    @Test
    void roundsWithoutTheConditionEndByTheirNumber() {
        String run = api.create(counting("{\"until\": \"false\", \"max\": 3}"));
        api.awaitState(run, "failed");
        assertThat(api.get("/api/v1/runs/" + run).json().get("error_code").stringValue()).isEqualTo("REPEAT_EXHAUSTED");
    }

    /** The failure rules decide about an exhausted loop, as about any failure of quality. */
    @Test
    void agentThatStartsOverBeginsWithRoundOne() {
        String run = api.create(counting("{\"until\": \"false\", \"max\": 2}").replace("\"start\": true,",
                "\"start\": true, \"config\": {\"agent_failure_mode\": \"retry\","
                        + " \"level_retry\": {\"max_attempts\": 2, \"base_delay_seconds\": 0.1}},"));
        api.awaitState(run, "failed");
        assertThat(api.run(run).get("error_code").stringValue()).isEqualTo("REPEAT_EXHAUSTED");
        assertThat(api.count("select count(*) from orchestration_events where event_type = 'task_round_completed'"
                + " and run_id = '" + run + "' and payload ->> 'round' = '1'")).isEqualTo(2);
    }

    @Test
    void failingConditionFailsTheTask() {
        String run = api.create(counting("{\"until\": \".output.n | fromjson\"}"));
        api.awaitState(run, "failed");
        assertThat(api.get("/api/v1/runs/" + run).json().get("error_code").stringValue())
                .isEqualTo("EXPRESSION_FAILED");
    }

    @Test
    void delayedRoundIsExplained() {
        String run = api.create(counting("{\"until\": \"false\", \"delay_seconds\": 600}"));
        Awaitility.await().untilAsserted(() -> assertThat(api.get("/api/v1/runs/" + run + "/explain").text())
                .contains("NEXT_ROUND"));
        api.post("/api/v1/runs/" + run + "/cancel", "{}");
        api.awaitState(run, "cancelled");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {}                                                  | REQUIRED           | /plan/tasks/0/repeat/until
            {"until": "true", "max": 0}                         | OUT_OF_RANGE       | /plan/tasks/0/repeat/max
            {"until": "true", "max": 100001}                    | OUT_OF_RANGE       | /plan/tasks/0/repeat/max
            {"until": "true", "max": 1.5}                       | WRONG_TYPE         | /plan/tasks/0/repeat/max
            {"until": "true", "delay_seconds": -1}              | OUT_OF_RANGE       | /plan/tasks/0/repeat/delay_seconds
            {"until": "true", "delay_seconds": 604801}          | OUT_OF_RANGE       | /plan/tasks/0/repeat/delay_seconds
            {"until": "true", "budget_usd": 0}                  | OUT_OF_RANGE       | /plan/tasks/0/repeat/budget_usd
            {"until": "true", "keep": 0}                        | OUT_OF_RANGE       | /plan/tasks/0/repeat/keep
            {"until": "true", "keep": 101}                      | OUT_OF_RANGE       | /plan/tasks/0/repeat/keep
            {"until": "true", "every": 1}                       | UNKNOWN_KEY        | /plan/tasks/0/repeat/every
            {"until": ".output +"}                              | EXPRESSION_SYNTAX  | /plan/tasks/0/repeat/until
            {"until": ".steps.add.output"}                      | UNKNOWN_REFERENCE  | /plan/tasks/0/repeat/until
            {"until": ".inputs.other"}                          | UNKNOWN_REFERENCE  | /plan/tasks/0/repeat/until
            """)
    void badRepeatIsRefused(String repeat, String code, String pointer) {
        JsonNode answer = api.post("/api/v1/missions/validate", counting(repeat)).json();
        assertThat(answer.get("problems").valueStream().map(each -> each.get("code").stringValue() + " "
                + each.get("pointer").stringValue()).toList()).contains(code + " " + pointer);
    }

    @Test
    void repeatExcludesForEachAndPreviousNeedsRepeat() {
        JsonNode both = api.post("/api/v1/missions/validate", counting("{\"until\": \"true\"}")
                .replace("\"repeat\"", "\"for_each\": \"${ [1] }\", \"repeat\"")).json();
        assertThat(both.get("problems").valueStream().map(each -> each.get("code").stringValue()).toList())
                .containsExactly("REPEAT_WITH_FOR_EACH");
        JsonNode once = api.post("/api/v1/missions/validate",
                counting("{\"until\": \"true\"}").replace("\"repeat\": {\"until\": \"true\"}, ", "")).json();
        assertThat(once.get("problems").valueStream().map(each -> each.get("code").stringValue()).distinct().toList())
                .containsExactly("UNKNOWN_REFERENCE");
    }

    @Test
    void forkBeginsWithARoundAndTheOutputBefore() {
        String run = api.create(counting("{\"until\": \".output.n >= 9\", \"max\": 20, \"keep\": 2}"));
        api.awaitState(run, "completed");
        for (String from : List.of("count#4", "count#9", "count#1")) {
            String fork = api.post("/api/v1/runs/" + run + "/fork", "{\"task\": \"" + from + "\"}").json().get("id")
                    .stringValue();
            api.awaitState(fork, "completed");
            JsonNode tasks = api.get("/api/v1/runs/" + fork + "/tasks").json().get("items");
            JsonNode rounds = api.get("/api/v1/tasks/" + tasks.get(0).get("id").stringValue() + "/rounds").json()
                    .get("items");
            int first = Integer.parseInt(from.substring(from.length() - 1));
            assertThat(rounds.valueStream().map(round -> round.get("round").asInt()).toList())
                    .containsExactlyElementsOf(IntStream.rangeClosed(first, 9).boxed().toList());
            assertThat(rounds.get(0).at("/output/before")).hasToString(first == 1 ? "null" : String.valueOf(first - 1));
            String again = api.post("/api/v1/runs/" + fork + "/fork", "{\"task\": \"count\"}").json().get("id")
                    .stringValue();
            api.awaitState(again, "completed");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {"task": "count#11"}                        | OUT_OF_RANGE
            {"task": "count#4"}                         | OUT_OF_RANGE
            {"task": "count[4]"}                        | OUT_OF_RANGE
            {"task": "other#2"}                         | UNKNOWN_REFERENCE
            {"task": "count#2", "turn": 2}              | INVALID_VALUE
            {"task": "count#2", "calls": "recorded"}    | INVALID_VALUE
            {"task": "count#0"}                         | UNKNOWN_REFERENCE
            """)
    void badForkFromARoundIsRefused(String body, String code) {
        String run = api.create(counting("{\"until\": \".output.n >= 3\", \"max\": 3}"));
        api.awaitState(run, "completed");
        assertThat(api.post("/api/v1/runs/" + run + "/fork", body).text()).contains("\"code\":\"" + code + "\"")
                .contains("/task");
    }

    private static String counting(String repeat) {
        return """
                {"name": "rounds", "start": true, "inputs": {"enough": {"type": "integer", "default": 12}},
                 "plan": {"tasks": [{"id": "count", "repeat": %s, "steps": [
                   {"name": "look", "tool": "echo", "input": {"n": "${ .round }"}},
                   {"name": "add", "tool": "echo", "input":
                     {"n": "${ .steps.look.output.n }", "before": "${ .previous.n }"}}]}]},
                 "output": "${ .tasks.count.output.n }"}""".formatted(repeat);
    }
}
