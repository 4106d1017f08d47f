package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The reasons themselves are the core's and tested there; here: what only the tables know, and the way to them. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ExplainApiTest {
    private static final String MISSION = """
            {"name": "m", "goal": "g", "start": true, "plan": {"tasks": [
              {"id": "ask", "steps": [{"name": "ok", "kind": "approval", "input": {"question": "?"}}]},
              {"id": "after", "depends_on": ["ask"], "steps": [{"name": "s", "tool": "noop"}]}]}}""";

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    @Test
    void runTaskAndStepExplainTheirWait() {
        String run = api.create(MISSION);
        api.awaitStep(run, "waiting_approval");
        JsonNode whole = api.get("/api/v1/runs/" + run + "/explain").json();
        assertThat(whole.get("state").stringValue()).isEqualTo("running");
        assertThat(codes(whole)).containsExactly("APPROVAL");
        assertThat(whole.at("/reasons/0/until").stringValue()).as("people are reminded then").endsWith("Z");

        List<JsonNode> tasks = api.get("/api/v1/runs/" + run + "/tasks").json().get("items").valueStream().toList();
        JsonNode after = api.get("/api/v1/tasks/" + tasks.get(1).get("id").stringValue() + "/explain").json();
        assertThat(codes(after)).containsExactly("UPSTREAM_OPEN");
        assertThat(after.at("/reasons/0/on/0").stringValue()).isEqualTo("ask");

        String step = whole.at("/reasons/0/step_id").stringValue();
        assertThat(codes(api.get("/api/v1/steps/" + step + "/explain").json())).containsExactly("APPROVAL");

        api.post("/api/v1/runs/" + run + "/cancel", "{}");
        assertThat(codes(api.get("/runs/run_" + run + "/explain").json())).containsExactly("ENDED");
    }

    @Test
    void aTimeThatRunsOutBeforeTheWaitIsOverIsNamed() {
        String run = api.create("""
                {"name": "late", "start": true, "config": {"timeouts": {"run_max_duration_seconds": 600}},
                 "plan": {"tasks": [
                  {"id": "nap", "steps": [{"name": "rest", "tool": "wait", "input": {"seconds": 259200}}]},
                  {"id": "busy", "steps": [{"name": "try", "tool": "fail", "input": {"times": 1},
                   "retry": {"base_delay_seconds": 300, "max_delay_seconds": 300}}]}]}}""");
        api.awaitSteps(run, "awaiting_retry", 1);
        api.awaitStep(run, "waiting");
        JsonNode deadline = api.get("/api/v1/runs/" + run + "/explain").json().get("reasons").valueStream()
                .filter(reason -> reason.get("code").stringValue().equals("DEADLINE")).findFirst().orElseThrow();
        assertThat(deadline.at("/on/0").stringValue()).isEqualTo("the run");
        assertThat(deadline.get("text").stringValue()).isEqualTo("the run runs out of its time of 600 s before that");
        assertThat(Instant.parse(deadline.get("until").stringValue()))
                .isBefore(Instant.parse(api.run(run).get("created_at").stringValue()).plusSeconds(660));
        api.post("/api/v1/runs/" + run + "/cancel", "{}");
    }

    @Test
    void unservedToolIsNamed() {
        api.post("/api/v1/dispatch/claim", """
                {"worker_id": "w", "tools": ["lonely"], "max": 1, "wait_ms": 0}""");
        String run = api.create("""
                {"name": "m", "goal": "g", "start": true,
                 "plan": {"tasks": [{"id": "a", "steps": [{"name": "s", "tool": "lonely"}]}]}}""");
        assertThat(codes(api.get("/api/v1/runs/" + run + "/explain").json())).containsExactly("QUEUED");
        api.sql("update workers set last_seen_at = last_seen_at - interval '2 minutes'");
        JsonNode alone = api.get("/api/v1/runs/" + run + "/explain").json();
        assertThat(codes(alone)).containsExactly("MISSING_WORKER");
        assertThat(alone.at("/reasons/0/on/0").stringValue()).isEqualTo("lonely");
    }

    @Test
    void turnsOfAnAgentThatTheRosterDoesNotHaveWaitForAWorker() {
        String run = api.create("""
                {"name": "m", "goal": "g", "start": true, "agent_slug": "ghost", "plan": {"total_estimated_cost": 1,
                  "tasks": [{"id": "a", "title": "A"}]}}""");
        assertThat(api.get("/api/v1/runs/" + run + "/explain").json().at("/reasons/0/text").stringValue()).isEqualTo(
                "step 'a/turn': no worker that serves 'agent.turn' has sent a request lately; a server takes only the turns of agents of the"
                        + " roster that have one of its models");
    }

    @Test
    void pauserOfARunAndRunAheadAreNamed() {
        String mission =
                """
                {"name": "m", "start": true, "config": {"concurrency": {"key": "order-7"}},
                 "plan": {"tasks": [{"id": "a", "steps": [{"name": "ok", "kind": "approval", "input": {"question": "Go on?"}}]}]}}""";
        String ahead = api.create(mission);
        api.awaitSteps(ahead, "waiting_approval", 1);
        String next = api.create(mission);
        JsonNode turn = api.get("/api/v1/runs/" + next + "/explain").json();
        assertThat(codes(turn)).containsExactly("CONCURRENCY_KEY");
        assertThat(turn.at("/reasons/0/on").valueStream().map(JsonNode::stringValue)).containsExactly("order-7", ahead);

        api.post("/api/v1/runs/" + ahead + "/pause", "{}");
        api.post("/api/v1/runs/" + ahead + "/resume", "{}");
        api.post("/api/v1/runs/" + ahead + "/pause", "{\"reason\": \"a holiday\"}");
        String who = api.get("/api/v1/runs/" + ahead + "/events?limit=500").json().get("items").valueStream()
                .filter(each -> each.get("event_type").stringValue().equals("run_paused"))
                .map(each -> each.get("actor_id").stringValue()).findFirst().orElseThrow();
        assertThat(api.get("/api/v1/runs/" + ahead + "/explain").json().at("/reasons/0/text").stringValue())
                .isEqualTo("the run was paused by " + who + ": a holiday; work in flight may finish");
        for (String run : List.of(next, ahead)) {
            api.post("/api/v1/runs/" + run + "/cancel", "{}");
        }
    }

    @Test
    void rateOfAConcurrencyKeyNamesTheSecondOfATurn() {
        String mission = """
                {"name": "m", "start": true, "config": {"concurrency": {"key": "hourly",
                    "rate": {"limit": 1, "period_seconds": 3600}}},
                 "plan": {"tasks": [{"id": "a", "steps": [{"tool": "noop"}]}]}}""";
        api.awaitState(api.create(mission), "completed");
        Instant begun = Instant.now();
        String second = api.create(mission);
        JsonNode waits = api.get("/api/v1/runs/" + second + "/explain").json();
        assertThat(codes(waits)).containsExactly("CONCURRENCY_KEY");
        assertThat(Instant.parse(waits.at("/reasons/0/until").stringValue()))
                .isBetween(begun.plusSeconds(3_500), begun.plusSeconds(3_601));
        String third = api.create(mission);
        assertThat(Instant
                .parse(api.get("/api/v1/runs/" + third + "/explain").json().at("/reasons/0/until").stringValue()))
                .isBetween(begun.plusSeconds(7_100), begun.plusSeconds(7_201));

        for (String run : List.of(second, third)) {
            api.post("/api/v1/runs/" + run + "/cancel", "{}");
        }
    }

    @Test
    void aLimitOfTheWorkspaceIsNamed() {
        api.sql("insert into workspace_limits (workspace_id, name, most) select id, 'tool:lonely', 0 from workspaces");
        api.post("/api/v1/dispatch/claim", """
                {"worker_id": "limited", "tools": ["lonely"], "max": 1, "wait_ms": 0}""");
        String run = api.create("""
                {"name": "m", "goal": "g", "start": true,
                 "plan": {"tasks": [{"id": "a", "steps": [{"name": "s", "tool": "lonely"}]}]}}""");
        JsonNode reasons = api.get("/api/v1/runs/" + run + "/explain").json();
        assertThat(codes(reasons)).containsExactly("WORKSPACE_LIMIT");
        assertThat(reasons.at("/reasons/0/on/0").stringValue()).isEqualTo("tool:lonely=0");
        api.sql("delete from workspace_limits");
    }

    @Test
    void aLimitPerMinuteIsNamedWithItsEnd() {
        api.sql("insert into workspace_limits (workspace_id, name, most) select id, 'tool_per_minute:rare', 1 from workspaces");
        String mission = """
                {"name": "m", "goal": "g", "start": true,
                 "plan": {"tasks": [{"id": "a", "steps": [{"name": "s", "tool": "rare"}]}]}}""";
        String claim = "{\"worker_id\": \"rated\", \"tools\": [\"rare\"], \"max\": 5, \"wait_ms\": 0}";
        api.post("/api/v1/dispatch/claim", claim);
        // The server reads the limit within 5 seconds.
        Awaitility.await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
            api.create(mission);
            String second = api.create(mission);
            api.post("/api/v1/dispatch/claim", claim);
            JsonNode reason = api.get("/api/v1/runs/" + second + "/explain").json().at("/reasons/0");
            assertThat(reason.get("code").stringValue()).isEqualTo("WORKSPACE_LIMIT");
            assertThat(reason.at("/on/0").stringValue()).matches(
                    "tool_per_minute:rare=1, which admits a step at 20\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ");
        });
        api.sql("delete from workspace_limits");
    }

    @Test
    void rowsOfAListSayWhyEachRunIsNotFurther() {
        String waits =
                api.create(ApiServer.WAITS.replace("\"name\": \"waits\",", "\"name\": \"in list\", \"start\": true,"));
        api.awaitStep(waits, "waiting_approval");
        String created = api.create("{\"name\": \"in list\", \"plan\": {\"tasks\": []}}");
        String ended = api.create("{\"name\": \"in list\", \"start\": true, \"plan\": {\"tasks\": []}}");
        api.awaitState(ended, "completed");

        JsonNode rows = api.get("/api/v1/runs?name=in%20list&now=true").json().get("items");

        assertThat(rows.valueStream().map(row -> row.get("id").stringValue() + " " + row.at("/now/code").asString("")))
                .containsExactly(ended + " ", created + " NOT_STARTED", waits + " APPROVAL");
        JsonNode reason = api.get("/api/v1/runs/" + waits + "/explain").json().at("/reasons/0");
        assertThat(rows.get(2).at("/now/text")).isEqualTo(reason.get("text"));
        assertThat(rows.get(2).at("/now/until")).isEqualTo(reason.get("until"));
        assertThat(api.get("/api/v1/runs?name=in%20list").json().at("/items/0").has("now")).isFalse();
        assertThat(api.get("/api/v1/runs?name=in%20list&state=running&state=completed").json().get("items")
                .valueStream().map(row -> row.get("id").stringValue())).containsExactly(ended, waits);
    }

    @Test
    void runsAreCountedInGroupsAndTheirQueueByTool() {
        String ended = api.create("{\"name\": \"counted\", \"start\": true, \"plan\": {\"tasks\": []}}");
        api.awaitState(ended, "completed");
        api.create("{\"name\": \"counted\", \"plan\": {\"tasks\": []}}");
        api.post("/api/v1/dispatch/claim",
                "{\"worker_id\": \"q\", \"tools\": [\"test.counted\"], \"max\": 1, \"wait_ms\": 0}");
        String waits = api
                .create("""
                {"name": "counted", "start": true, "plan": {"tasks": [{"id": "a", "steps": [{"tool": "test.counted"}]}]}}""");

        JsonNode byState = api.get("/api/v1/runs/stats?name=counted").json();
        JsonNode byHour = api.get("/api/v1/runs/stats?name=counted&by=hour").json();
        JsonNode queue = api.get("/api/v1/queue").json().get("items");

        assertThat(byState.get("complete").booleanValue()).isTrue();
        assertThat(byState.get("items").valueStream().filter(row -> row.get("key").stringValue().equals("completed")))
                .singleElement().satisfies(row -> {
                    assertThat(row.get("count").intValue()).isEqualTo(1);
                    assertThat(row.get("completed").intValue()).isEqualTo(1);
                    assertThat(row.get("open").intValue()).isZero();
                    assertThat(row.get("duration_ms_p50").isNumber()).isTrue();
                });
        assertThat(byHour.get("items").valueStream().mapToInt(row -> row.get("count").intValue()).sum()).isEqualTo(3);
        for (String by : List.of("recipe", "error_code")) {
            assertThat(api.get("/api/v1/runs/stats?name=counted&by=" + by).json().at("/items/0/key").isNull()).isTrue();
        }
        assertThat(queue.valueStream().filter(row -> row.get("tool").stringValue().equals("test.counted")))
                .singleElement().satisfies(row -> assertThat(row.get("waiting").intValue()).isEqualTo(1));
        api.post("/api/v1/runs/" + waits + "/cancel", "{}");
    }

    private static List<String> codes(JsonNode explanation) {
        return explanation.get("reasons").valueStream().map(reason -> reason.get("code").stringValue()).toList();
    }
}
