package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.json.Json;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Outputs of tasks and outcomes of runs, as the documents show them and as the columns hold them. */
@Breadth.Spread
class OutputsApiTest {
    private static final String LONG = "\"ab\" * 1500";

    @TempDir
    static Path data;

    private static ApiServer api;

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(data);
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    @Test
    void anOutputUpTo2000CharactersIsItsOwnSummary() {
        String run =
                completed("{\"start\": true, \"name\": \"r\", \"plan\": {\"tasks\": [" + task("a", "\"ab\" * 1000", "")
                        + "]}}");
        JsonNode task = task(run, "a");

        assertThat(task.get("output_summary").stringValue()).hasSize(2_000);
        assertThat(task.get("output_ref").isNull()).isTrue();
        assertThat(columns(run)).containsExactly("a|2000|");
    }

    @Test
    void aLongerOutputHasASummaryAndIsReadWholeWhereTheReferenceSays() {
        String run =
                completed("{\"start\": true, \"name\": \"r\", \"plan\": {\"tasks\": [" + task("text", LONG, "") + ", "
                        + task("json", "{words: [range(1000)]}", "") + "]}}");
        JsonNode text = task(run, "text");
        JsonNode json = task(run, "json");

        assertThat(columns(run)).containsExactly("json|2000|/api/v1/tasks/" + id(json) + "/output",
                "text|2000|/api/v1/tasks/" + id(text) + "/output");
        assertThat(text.get("output_summary").stringValue()).isEqualTo("ab".repeat(1_000));
        ApiServer.Answer whole = api.get(text.get("output_ref").stringValue());
        assertThat(whole.header("Content-Type")).startsWith("text/plain");
        assertThat(whole.text()).isEqualTo("ab".repeat(1_500));
        ApiServer.Answer document = api.get(json.get("output_ref").stringValue());
        assertThat(document.header("Content-Type")).startsWith("application/json");
        assertThat(document.json().get("words")).hasSize(1_000);
        assertThat(api.get(text.get("output_ref").stringValue(), "Authorization", api.stranger()).status())
                .isEqualTo(404);
    }

    @Test
    void outputToJudgeIsReadInFullAtItsReference() {
        String run = api.create("{\"start\": true, \"name\": \"r\", \"plan\": {\"tasks\": ["
                + task("a", LONG, ", \"verify\": [{\"kind\": \"jq\", \"expression\": \"true\"}, {\"kind\": \"human\"}]")
                + "]}}");
        String reference = awaitEvent(run, "task_output_submitted").get("output_ref").stringValue();
        awaitEvent(run, "task_human_review_requested");

        assertThat(task(run, "a").get("output_ref").stringValue()).isEqualTo(reference);
        assertThat(api.get("/api/v1/inbox?run_id=" + run).json().at("/items/0/data/output_ref").stringValue())
                .isEqualTo(reference);
        assertThat(api.get(reference).text()).hasSize(3_000);
    }

    @Test
    void taskWithoutAnOutputIsShownAsSuch() {
        String run =
                api.create(ApiServer.WAITS.replace("{\"name\": \"waits\"", "{\"name\": \"waits\", \"start\": true"));
        api.awaitStep(run, "waiting_approval");

        ApiServer.Answer none = api.get("/api/v1/tasks/" + id(task(run, "ask")) + "/output");
        assertThat(none.status()).isEqualTo(404);
        assertThat(none.json().get("code").stringValue()).isEqualTo("OUTPUT_NOT_FOUND");
    }

    @Test
    void reusedTasksKeepSummaryAndReference() {
        String run = api.create("{\"start\": true, \"name\": \"r\", \"plan\": {\"tasks\": [" + task("a", LONG, "")
                + ", {\"id\": \"b\", \"depends_on\": [\"a\"], \"steps\": [{\"kind\": \"approval\", \"input\":"
                + " {\"question\": \"Go on?\"}}]}]}}");
        api.awaitStep(run, "waiting_approval");
        api.post("/api/v1/runs/" + run + "/reject", "{}");
        api.awaitState(run, "failed");
        String before = task(run, "a").get("output_ref").stringValue();
        api.post("/api/v1/runs/" + run + "/retry", "{}");
        api.awaitStep(run, "waiting_approval");
        api.post("/api/v1/runs/" + run + "/approve", "{}");
        JsonNode ended = api.awaitState(run, "completed");
        JsonNode carried = task(run, "a");

        assertThat(ended.get("attempt_number").intValue()).isEqualTo(2);
        assertThat(carried.get("output_summary").stringValue()).isEqualTo("ab".repeat(1_000));
        assertThat(carried.get("output_ref").stringValue()).isEqualTo(before);
        assertThat(api.get("/api/v1/tasks/" + id(carried) + "/output").text()).hasSize(3_000);
    }

    @Test
    void aRunWithoutAnOutputTemplateIsSummedUpByTheTaskThatNoOtherDependsOn() {
        String run = completed("{\"start\": true, \"name\": \"r\", \"plan\": {\"tasks\": ["
                + task("a", "\"first\"", "") + ", " + task("b", "\"the report\"", ", \"depends_on\": [\"a\"]") + "]}}");

        assertThat(api.run(run).get("result_summary").stringValue()).isEqualTo("the report");
    }

    @Test
    void severalSuchTasksAreNamedInTheSummaryAndSoIsWhatWasSkipped() {
        String run = completed("{\"start\": true, \"name\": \"r\", \"plan\": {\"tasks\": ["
                + task("a", "1 + 1", ", \"title\": \"Sum\"") + ", "
                + task("b", "null", ", \"title\": \"Nothing\"") + ", "
                + task("c", "1", ", \"title\": \"Not wanted\", \"when\": \"${ false }\"") + "]}}");

        assertThat(api.run(run).get("result_summary").stringValue())
                .isEqualTo("Sum: 2\nNothing: completed\nNot wanted: skipped");
    }

    @Test
    void acceptanceItemShowsTheSummary() {
        String run = api.create("{\"start\": true, \"name\": \"r\", \"config\": {\"acceptance\": \"human\"}, \"plan\":"
                + " {\"tasks\": [" + task("a", "\"the report\"", "") + "]}}");
        awaitEvent(run, "run_acceptance_requested");

        assertThat(api.get("/api/v1/inbox?run_id=" + run).json().at("/items/0/data/summary").stringValue())
                .isEqualTo("the report");
        assertThat(api.run(run).get("result_summary").stringValue()).isEqualTo("the report");
    }

    @Test
    void aFailedRunHasNoSummary() {
        String run = api.create("{\"start\": true, \"name\": \"r\", \"plan\": {\"tasks\": [{\"id\": \"a\", \"steps\": ["
                + "{\"tool\": \"fail\", \"retry\": {\"max_attempts\": 1}}]}]}}");

        assertThat(api.awaitState(run, "failed").get("result_summary").isNull()).isTrue();
    }

    @Test
    void theCoordinatorIsTheAgentOfTheRosterThatTheMissionNames() {
        int agent = api.post("/api/v1/agents", "{\"slug\": \"scout\"}").json().get("id").intValue();
        String known = completed("{\"start\": true, \"name\": \"r\", \"agent_slug\": \"scout\", \"plan\": {\"tasks\": ["
                + task("a", "1", "") + "]}}");
        String unknown = completed("{\"start\": true, \"name\": \"r\", \"agent_slug\": \"elsewhere\", \"plan\":"
                + " {\"tasks\": [" + task("a", "1", "") + "]}}");

        assertThat(api.run(known).get("coordinator_agent_id").intValue()).isEqualTo(agent);
        assertThat(api.run(unknown).get("coordinator_agent_id").isNull()).isTrue();
        assertThat(query("select assigned_agent_id from board_tasks where source_id = '" + known + "'"))
                .containsExactly(String.valueOf(agent));
    }

    private static String task(String id, String expression, String more) {
        return "{\"id\": \"%s\", \"steps\": [{\"tool\": \"json.transform\", \"input\": {\"expression\": %s}}]%s}"
                .formatted(id, Json.object().put("e", expression).get("e"), more);
    }

    private static String completed(String mission) {
        String run = api.create(mission);
        api.awaitState(run, "completed");
        return run;
    }

    private static JsonNode task(String run, String key) {
        JsonNode listed = api.get("/api/v1/runs/" + run + "/tasks").json().get("items").valueStream()
                .filter(task -> task.get("key").stringValue().equals(key)).findFirst().orElseThrow();
        return api.get("/api/v1/tasks/" + id(listed)).json();
    }

    private static String id(JsonNode task) {
        return task.get("id").stringValue();
    }

    private static JsonNode awaitEvent(String run, String type) {
        String path = "/api/v1/runs/" + run + "/events?limit=500";
        Awaitility.await().until(() -> api.get(path).json().get("items").valueStream()
                .anyMatch(event -> event.get("event_type").stringValue().equals(type)));
        return api.get(path).json().get("items").valueStream()
                .filter(event -> event.get("event_type").stringValue().equals(type)).findFirst().orElseThrow()
                .get("payload");
    }

    private static List<String> columns(String run) {
        return query("select concat_ws('|', key, length(output_summary), coalesce(output_ref, '')) from"
                + " orchestration_tasks where run_id = '" + run + "' order by key");
    }

    private static List<String> query(String sql) {
        return api.database().withConnection(c -> {
            try (var statement = c.createStatement(); var rows = statement.executeQuery(sql)) {
                List<String> found = new ArrayList<>();
                while (rows.next()) {
                    found.add(rows.getString(1));
                }
                return found;
            }
        });
    }
}
