package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Schedules over HTTP, with the runs that the real engine makes of them. */
@Breadth.Spread
class ScheduleApiTest {

    private static final String MISSION = """
            {"name": "tick", "inputs": {"who": {"type": "string", "default": "all"}}, "plan": {"tasks": [
              {"id": "say", "steps": [{"tool": "echo", "input": {"at": "${ .run.scheduled_for }",
               "who": "${ .inputs.who }"}}]}]}, "output": "${ .tasks.say.output }"}""";

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

    private static String path(JsonNode schedule) {
        return "/api/v1/schedules/" + schedule.get("id").stringValue();
    }

    private static JsonNode made(String name, String more) {
        ApiServer.Answer answer = api.post("/api/v1/schedules", """
                {"name": "%s", "cron": "0 3 1 1 *", "mission": %s%s}""".formatted(name, MISSION, more));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json();
    }

    private static List<String> problems(String body) {
        ApiServer.Answer answer = api.post("/api/v1/schedules", body);
        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        return answer.json().get("problems").valueStream()
                .map(each -> each.get("code").stringValue() + " " + each.get("pointer").stringValue()).toList();
    }

    private static List<JsonNode> times(JsonNode schedule) {
        return api.get(path(schedule) + "/runs").json().get("items").valueStream().toList();
    }

    private static void due(JsonNode schedule, String expression) {
        api.sql("update schedules set next_run_at = " + expression + ", wake_at = clock_timestamp() where id = '"
                + schedule.get("id").stringValue() + "'");
    }

    @Test
    void submitsARunAtItsTime() {
        JsonNode schedule = made("comes", ", \"inputs\": {\"who\": \"ann\"}");
        due(schedule, "date_trunc('second', clock_timestamp()) - interval '1 second'");

        Awaitility.await().atMost(Duration.ofSeconds(60))
                .until(() -> times(schedule).stream().anyMatch(time -> time.get("state").stringValue().equals("made")));
        JsonNode time = times(schedule).getFirst();
        JsonNode run = api.awaitState(time.get("run_id").stringValue(), "completed");

        assertThat(times(schedule)).hasSize(1);
        assertThat(run.get("trigger").stringValue()).isEqualTo("cron");
        assertThat(run.get("schedule_id")).isEqualTo(schedule.get("id"));
        assertThat(run.get("scheduled_for")).isEqualTo(time.get("scheduled_for"));
        assertThat(run.at("/output/at")).isEqualTo(time.get("scheduled_for"));
        assertThat(run.at("/output/who").stringValue()).isEqualTo("ann");
        assertThat(api.get(path(schedule)).json().get("runs_made").intValue()).isEqualTo(1);
    }

    /** As after a crash between the two, and a delete before anybody looks again. */
    @Test
    void aRunThatWasDeletedBeforeItWasNotedIsNotMadeOnceMore() {
        JsonNode schedule = made("deleted", ", \"overlap\": \"allow\"");
        String run = api.post(path(schedule) + "/trigger", "{}").json().get("run_id").stringValue();
        api.awaitState(run, "completed");
        assertThat(api.send("DELETE", "/api/v1/runs/" + run, null).status()).isEqualTo(204);
        api.sql("update schedule_ticks set state = 'due', decided_at = null, at_work = false where run_id = '" + run
                + "'");
        due(schedule, "date_trunc('second', clock_timestamp()) - interval '1 second'");

        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> times(schedule).size() == 2
                && times(schedule).stream().allMatch(time -> time.get("state").stringValue().equals("made")));
        assertThat(api.get("/api/v1/runs/" + run).status()).isEqualTo(404);
    }

    /** Held open where the schedule has been found, and its deletion commits before anything is written. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"trigger | {}",
            "backfill | {\"from\": \"2020-01-01T00:00:00Z\", \"to\": \"2020-02-01T00:00:00Z\"}"})
    void scheduleDeletedMeanwhileIsNotFound(String action, String body) throws Exception {
        JsonNode schedule = made("gone " + action, "");
        CompletableFuture<ApiServer.Answer> answer = api.database().inTransaction(c -> {
            try (Statement s = c.createStatement()) {
                s.execute("delete from schedules where id = '" + schedule.get("id").stringValue() + "'");
                CompletableFuture<ApiServer.Answer> asked = CompletableFuture
                        .supplyAsync(() -> api.post(path(schedule) + "/" + action, body));
                Awaitility.await().until(() -> waiting(s));
                return asked;
            }
        });

        ApiServer.Answer said = answer.get(1, TimeUnit.MINUTES);
        assertThat(said.status()).as(said.text()).isEqualTo(404);
        assertThat(said.json().get("code").stringValue()).isEqualTo("SCHEDULE_NOT_FOUND");
    }

    /** True while another connection waits for a lock of this connection's transaction. */
    private static boolean waiting(Statement s) throws SQLException {
        s.execute("select pg_stat_clear_snapshot()");
        try (ResultSet row = s.executeQuery(
                "select exists (select from pg_stat_activity where pg_backend_pid() = any (pg_blocking_pids(pid)))")) {
            row.next();
            return row.getBoolean(1);
        }
    }

    @Test
    void createsRunsOfTheRecipesCurrentVersion() {
        JsonNode recipe = api.post("/api/v1/recipes", MISSION.replace("\"name\": \"tick\"", "\"name\": \"cooked\"")
                .replace(", \"default\": \"all\"", "")).json();
        assertThat(problems("{\"name\": \"r\", \"cron\": \"@daily\", \"recipe\": \"cooked\"}"))
                .containsExactly("INPUT_MISSING /inputs/who");
        ApiServer.Answer answer = api.post("/api/v1/schedules",
                "{\"name\": \"r\", \"cron\": \"@daily\", \"recipe\": \"cooked\", \"inputs\": {\"who\": \"bob\"}}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        JsonNode schedule = answer.json();

        JsonNode time = api.post(path(schedule) + "/trigger", "{}").json();

        JsonNode run = api.awaitState(time.get("run_id").stringValue(), "completed");
        assertThat(run.get("trigger").stringValue()).isEqualTo("manual");
        assertThat(run.get("recipe_id")).isEqualTo(recipe.get("id"));
        assertThat(run.at("/output/who").stringValue()).isEqualTo("bob");
        ApiServer.Answer kept = api.send("DELETE", "/api/v1/recipes/" + recipe.get("id").stringValue(), null);
        assertThat(kept.json().get("code").stringValue()).isEqualTo("RECIPE_IN_USE");
        assertThat(api.send("DELETE", path(schedule), null).status()).isEqualTo(204);
        assertThat(api.run(run.get("id").stringValue()).get("state").stringValue()).isEqualTo("completed");
    }

    @Test
    void listsAllProblemsOfASchedule() {
        assertThat(problems(
                "{\"name\": \"x\", \"cron\": \"61 * * * *\", \"time_zone\": \"Mars/Base\", \"overlap\": \"maybe\"}"))
                .containsExactlyInAnyOrder("INVALID_CRON /cron", "INVALID_VALUE /time_zone", "INVALID_VALUE /overlap");
        assertThat(problems("{\"name\": \"x\", \"cron\": \"@daily\"}")).containsExactly("REQUIRED /recipe");
        assertThat(problems("{\"name\": \"x\", \"cron\": \"@daily\", \"recipe\": \"none such\"}"))
                .containsExactly("UNKNOWN_REFERENCE /recipe");
        assertThat(problems("""
                {"name": "x", "cron": "@daily", "inputs": {"a": 1}, "mission": {"name": "m", "plan": {"tasks": [
                  {"id": "a", "steps": [{"tool": "none.such"}]}]}}}"""))
                .contains("UNKNOWN_TOOL /mission/plan/tasks/0/steps/0/tool");
        assertThat(problems(
                "{\"name\": \"x\", \"cron\": \"@daily\", \"mission\": " + MISSION + ", \"inputs\": {\"who\": 1}}"))
                .containsExactly("INPUT_INVALID /inputs/who");
    }

    @Test
    void isLookedAheadAtOverAChangeOfClocks() {
        ApiServer.Answer made = api.post("/api/v1/schedules",
                "{\"name\": \"ahead\", \"cron\": \"30 2 * * *\", \"time_zone\": \"Europe/Berlin\", \"mission\": "
                        + MISSION + "}");

        JsonNode next = api.get(path(made.json()) + "/next?count=3&after=2026-03-27T12:00:00Z").json();

        assertThat(next.get("items").toString()).isEqualTo(
                "[\"2026-03-28T01:30:00.000Z\",\"2026-03-29T01:00:00.000Z\",\"2026-03-30T00:30:00.000Z\"]");
    }

    @Test
    void pausesAndResumes() {
        JsonNode schedule = made("pauses", "");
        assertThat(api.post(path(schedule) + "/pause", "{}").json().get("next_run_at").isNull()).isTrue();
        JsonNode paused = api.post(path(schedule) + "/pause", "{}").json();
        assertThat(paused.get("paused").booleanValue()).isTrue();
        assertThat(paused.get("version").intValue()).isEqualTo(2);
        JsonNode on = api.post(path(schedule) + "/resume", "{}").json();
        assertThat(on.get("next_run_at")).isEqualTo(schedule.get("next_run_at"));
    }

    @Test
    void backfillsAPeriodOnce() {
        JsonNode schedule = made("backfills", "");
        String period = "{\"from\": \"2021-01-01T00:00:00Z\", \"to\": \"2023-12-31T00:00:00Z\"}";
        for (int again = 0; again < 2; again++) {
            assertThat(api.post(path(schedule) + "/backfill", period).json().get("times").intValue()).isEqualTo(3);
        }
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> times(schedule).size() == 3
                && times(schedule).stream().allMatch(time -> time.get("state").stringValue().equals("made")));

        assertThat(times(schedule)).extracting(time -> time.get("scheduled_for").stringValue()).containsExactly(
                "2023-01-01T03:00:00.000Z", "2022-01-01T03:00:00.000Z", "2021-01-01T03:00:00.000Z");
        JsonNode run = api.run(times(schedule).getLast().get("run_id").stringValue());
        assertThat(run.get("trigger").stringValue()).isEqualTo("backfill");
        JsonNode page = api.get(path(schedule) + "/runs?limit=2").json();
        assertThat(api.get(path(schedule) + "/runs?limit=2&cursor=" + page.get("next_cursor").stringValue()).json()
                .get("items")).hasSize(1);
        assertThat(api.post(path(schedule) + "/backfill", "{\"from\": \"2023-01-01T00:00:00Z\"}").status())
                .isEqualTo(422);
    }

    @Test
    void isChangedAndItsNameIsItsOwn() {
        JsonNode schedule = made("changes", "");
        made("other", "");
        String body = "{\"name\": \"%s\", \"cron\": \"0 4 1 1 *\", \"max_runs\": 2, \"mission\": " + MISSION + "}";

        ApiServer.Answer changed = put(schedule, body.formatted("changes"));

        assertThat(changed.json().get("next_run_at").stringValue()).contains("T04:00:00");
        assertThat(changed.json().get("max_runs").intValue()).isEqualTo(2);
        assertThat(put(schedule, body.formatted("changes")).json().get("version").intValue()).isEqualTo(2);
        assertThat(put(schedule, body.formatted("other")).json().get("code").stringValue())
                .isEqualTo("SCHEDULE_NAME_TAKEN");
        assertThat(api.get("/api/v1/schedules?name=changes").json().get("items")).hasSize(1);
    }

    private static ApiServer.Answer put(JsonNode schedule, String body) {
        return api.send("PUT", path(schedule), body.getBytes(StandardCharsets.UTF_8), "Content-Type",
                "application/json");
    }

    @Test
    void isDoneOnceUnderAKey() {
        JsonNode schedule = made("keyed", "");
        ApiServer.Answer first = api.post(path(schedule) + "/trigger", "{}", "Idempotency-Key", "t");
        ApiServer.Answer second = api.post(path(schedule) + "/trigger", "{}", "Idempotency-Key", "t");

        assertThat(second.json()).isEqualTo(first.json());
        assertThat(times(schedule)).hasSize(1);
    }

    @Test
    void runWithoutCreditsIsReported() {
        JsonNode schedule = api.post("/api/v1/schedules", """
                {"name": "dear", "cron": "@daily", "mission": {"name": "dear",
                 "plan": {"total_estimated_cost": 900000, "tasks": [
                  {"id": "a", "steps": [{"tool": "noop"}]}]}}}""").json();

        api.post(path(schedule) + "/trigger", "{}");

        JsonNode time = times(schedule).getFirst();
        assertThat(time.get("state").stringValue()).isEqualTo("failed");
        assertThat(time.get("error_code").stringValue()).isEqualTo("INSUFFICIENT_CREDITS");
    }
}
