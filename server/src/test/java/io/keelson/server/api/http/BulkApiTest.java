package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Commands to all runs that a filter finds, over HTTP. */
@Breadth.Spread
class BulkApiTest {

    private static final String FAILS = """
            {"name": "breaks", "goal": "Break the %1$s", "tags": ["%1$s", "nightly"], "start": true, "plan": {"tasks": [
              {"id": "a", "steps": [{"tool": "fail", "input": {"code": "BROKEN", "times": %2$d},
                "retry": {"max_attempts": 1}}]}]}}""";

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

    private static String waiting(String tag) {
        return api.create(ApiServer.WAITS.replace("\"name\": \"waits\"",
                "\"name\": \"waits\", \"start\": true, \"tags\": [\"" + tag + "\"]"));
    }

    private static List<String> found(String query) {
        ApiServer.Answer answer = api.get("/api/v1/runs?" + query);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().get("items").valueStream().map(run -> run.get("id").stringValue()).toList();
    }

    private static JsonNode asked(String action, String body) {
        ApiServer.Answer answer = api.post("/api/v1/runs:" + action, body);
        assertThat(answer.status()).as(answer.text()).isEqualTo(202);
        return answer.json();
    }

    private static JsonNode ended(JsonNode job) {
        String path = "/api/v1/bulk/" + job.get("id").stringValue();
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(20))
                .until(() -> !api.get(path).json().get("state").stringValue().equals("running"));
        return api.get(path).json();
    }

    private static long events(String run, String type) {
        return api.get("/api/v1/runs/" + run + "/events?limit=500").json().get("items").valueStream()
                .filter(event -> event.get("event_type").stringValue().equals(type)).count();
    }

    @Test
    void runsAreFoundByAllFilters() {
        String run = api.create(FAILS.formatted("search", 9));
        api.awaitState(run, "failed");
        String code = api.run(run).get("error_code").stringValue();

        assertThat(found("tag=search&tag=nightly&state=failed&error_code=" + code)).containsExactly(run);
        assertThat(found("tag=search&tag=weekly")).isEmpty();
        assertThat(found("text=BREAK%20the%20search")).containsExactly(run);
        assertThat(found("text=%25")).isEmpty();
        assertThat(found("name=breaks&tag=search&trigger=api&created_after=2020-01-01")).containsExactly(run);
        assertThat(found("tag=search&created_before=2020-01-01")).isEmpty();
        assertThat(found("tag=search&recipe_id=00000000-0000-0000-0000-000000000001")).isEmpty();
        assertThat(api.get("/api/v1/runs?recipe_id=x").status()).isEqualTo(400);
    }

    @Test
    void cancelsOnlyOpenRuns() {
        List<String> runs = List.of(waiting("stale"), waiting("stale"), waiting("stale"));
        String other = waiting("fresh");
        String body = "{\"filter\": {\"tags\": [\"stale\"]}, \"reason\": \"too old\"}";

        JsonNode dry = api.post("/api/v1/runs:cancel", body.replace("}, ", "}, \"dry_run\": true, ")).json();
        assertThat(dry.get("matches").longValue()).isEqualTo(3);
        assertThat(api.run(runs.getFirst()).get("state").stringValue()).isNotEqualTo("cancelled");
        JsonNode job = ended(asked("cancel", body));

        assertThat(job.get("state").stringValue()).isEqualTo("completed");
        assertThat(job.get("changed").longValue()).isEqualTo(3);
        for (String run : runs) {
            assertThat(api.run(run).get("state").stringValue()).isEqualTo("cancelled");
            assertThat(events(run, "run_cancelled")).isEqualTo(1);
        }
        assertThat(api.run(other).get("state").stringValue()).isNotEqualTo("cancelled");
        assertThat(ended(asked("cancel", body)).get("matches").longValue()).isZero();
        assertThat(api.get("/api/v1/bulk").json().get("items").size()).isGreaterThanOrEqualTo(2);
    }

    @Test
    void chosenRunsArePausedResumedCancelledAndDeleted() {
        List<String> runs = List.of(waiting("chosen"), waiting("chosen"), waiting("chosen"));
        runs.forEach(run -> api.awaitState(run, "running"));
        String two = "{\"filter\": {\"ids\": [\"%s\", \"%s\"]}}".formatted(runs.getFirst(), runs.get(1));

        assertThat(ended(asked("pause", two)).get("changed").longValue()).isEqualTo(2);
        assertThat(runs.stream().map(run -> api.run(run).get("state").stringValue()))
                .containsExactly("paused", "paused", "running");
        JsonNode counted = api.post("/api/v1/runs:resume", two.replace("}}", "}, \"dry_run\": true}")).json();
        assertThat(counted.get("matches").longValue()).isEqualTo(2);
        assertThat(ended(asked("resume", two)).get("changed").longValue()).isEqualTo(2);
        assertThat(api.run(runs.getFirst()).get("state").stringValue()).isEqualTo("running");
        assertThat(ended(asked("delete", two)).get("matches").longValue()).isZero();
        assertThat(ended(asked("cancel", two)).get("changed").longValue()).isEqualTo(2);
        JsonNode deleted = ended(asked("delete", two));
        assertThat(deleted.get("changed").longValue()).isEqualTo(2);
        assertThat(deleted.at("/filter/ids")).hasSize(2);
        assertThat(runs.stream().map(run -> api.get("/api/v1/runs/" + run).status())).containsExactly(404, 404, 200);
        assertThat(api.get("/api/v1/audit?limit=50").text()).contains("run_deleted", runs.getFirst(), runs.get(1));
    }

    /** The node crashes after its commands and before recording them: the next node repeats none. */
    @Test
    void runIsRetriedOnceAfterACrash() {
        List<String> runs = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            runs.add(api.create(FAILS.formatted("twice", 9)));
        }
        runs.forEach(run -> api.awaitState(run, "failed"));
        JsonNode job = ended(asked("retry", "{\"filter\": {\"tags\": [\"twice\"]}, \"per_second\": 1000}"));
        assertThat(job.get("changed").longValue()).as(job.toString()).isEqualTo(3);
        runs.forEach(run -> Awaitility.await().atMost(Duration.ofSeconds(60))
                .until(() -> api.run(run).get("attempt_number").intValue() == 2
                        && api.run(run).get("state").stringValue().equals("failed")));

        api.sql("""
                update bulk_jobs set state = 'running', ended_at = null, wake_at = clock_timestamp(), changed = 0,
                    portion = (select array_agg(id) from orchestration_runs where tags @> '["twice"]')
                 where id = '%s'""".formatted(job.get("id").stringValue()));
        asked("cancel", "{\"filter\": {\"name\": \"wakes the driver\"}}");

        assertThat(ended(job).get("changed").longValue()).isEqualTo(3);
        runs.forEach(run -> assertThat(api.run(run).get("attempt_number").intValue()).isEqualTo(2));
    }

    @Test
    void retriesAreSpreadAndCanBeStopped() {
        List<String> runs = new ArrayList<>();
        int many = 40;
        for (int i = 0; i < many; i++) {
            runs.add(api.create(FAILS.formatted("slow", 1)));
        }
        runs.forEach(run -> api.awaitState(run, "failed"));

        JsonNode job = asked("retry", "{\"filter\": {\"tags\": [\"slow\"]}, \"per_second\": 1}");
        String path = "/api/v1/bulk/" + job.get("id").stringValue();
        Awaitility.await().until(() -> api.get(path).json().get("changed").longValue() >= 1);
        JsonNode stopped = api.post(path + "/stop", "{}").json();

        assertThat(stopped.get("state").stringValue()).isEqualTo("stopped");
        assertThat(stopped.get("changed").longValue()).isLessThan(many);
        assertThat(runs.stream().filter(run -> api.run(run).get("attempt_number").intValue() == 1)).isNotEmpty();
    }

    @Test
    void retriesInAWorkspaceThatIsClosedEnd() {
        String bearer = api.stranger();
        for (int i = 0; i < 6; i++) {
            api.post("/api/v1/runs", FAILS.formatted("closing", 9), "Authorization", bearer);
        }
        Awaitility.await().until(() -> api.send("GET", "/api/v1/runs?state=failed", null, "Authorization", bearer)
                .json().get("items").size() == 6);
        String job = api.post("/api/v1/runs:retry", "{\"filter\": {\"tags\": [\"closing\"]}, \"per_second\": 1}",
                "Authorization", bearer).json().get("id").stringValue();
        api.sql("update workspaces set closed_at = now() where id = (select workspace_id from bulk_jobs where id = '%s')"
                .formatted(job));

        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> state(job).equals("stopped"));
    }

    /** Reads the database, because no key opens a closed workspace. */
    private static String state(String job) {
        return api.database().withConnection(c -> {
            try (Statement statement = c.createStatement();
                    ResultSet row = statement.executeQuery("select state from bulk_jobs where id = '" + job + "'")) {
                row.next();
                return row.getString(1);
            }
        });
    }

    @Test
    void emptyFilterMatchesNoRun() {
        for (String body : List.of("{}", "{\"filter\": {}}", "{\"filter\": {\"state\": null, \"tags\": []}}",
                "{\"filter\": {\"state\": \"odd\"}}", "{\"filter\": {\"created_after\": \"soon\"}}",
                "{\"filter\": {\"colour\": \"red\"}}")) {
            assertThat(api.post("/api/v1/runs:cancel", body).status()).as(body).isEqualTo(422);
        }
    }

    @Test
    void theSameKeyMakesOneJob() {
        String body = "{\"filter\": {\"name\": \"unknown\"}}";
        JsonNode first = api.post("/api/v1/runs:cancel", body, "Idempotency-Key", "k1").json();
        JsonNode second = api.post("/api/v1/runs:cancel", body, "Idempotency-Key", "k1").json();

        assertThat(second.get("id")).isEqualTo(first.get("id"));
    }
}
