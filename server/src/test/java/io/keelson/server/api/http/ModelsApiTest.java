package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.base.db.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The models of a server over HTTP, and which of them a workspace may use. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ModelsApiTest {
    private static final String KEY = "sk-canary-0987654321";
    private static final String MISSION = """
            {"name": "n", "plan": {"tasks": [{"id": "a", "suggested_model": "%s", "steps": [{"tool": "noop"}]}]}}""";

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        Files.writeString(folder.resolve("provider.key"), KEY);
        Path file = Files.writeString(folder.resolve("models.yaml"), """
                models:
                  small:
                    wire: openai-responses
                    base_url: https://api.example.com/v1
                    model: gpt-x-mini
                    family: openai
                    api_key: {file: provider.key}
                    headers: {X-Route: {file: provider.key}}
                    context_tokens: 400000
                    max_output_tokens: 16000
                    prices: {input: 0.25, cache_read: 0.025, output: 2}
                  unpriced:
                    wire: anthropic-messages
                    base_url: http://127.0.0.1:1
                    model: claude-x
                    family: anthropic
                    context_tokens: 200000
                    max_output_tokens: 8000
                    bytes_per_token: 2.5
                  wide:
                    wire: openai-chat
                    base_url: http://127.0.0.1:1
                    model: w
                    family: other
                    context_tokens: 1000
                    max_output_tokens: 1000
                    prices: {input: 1, output: 1}
                    fallback: [small, unpriced]
                """);
        api = new ApiServer(Files.createDirectory(folder.resolve("data")), TestDatabase.createUrl(),
                Map.of("KEELSON_MODELS", file.toString(), "KEELSON_ALLOWED_FOLDERS", folder.toString()));
    }

    @AfterAll
    void stop() {
        api.close();
    }

    private Answer patch(String workspace, String models) {
        return change(workspace, "{\"allowed_models\": " + models + "}");
    }

    private Answer change(String workspace, String change) {
        return api.send("PATCH", "/api/v1/workspaces/" + workspace, change.getBytes(StandardCharsets.UTF_8),
                "Content-Type", "application/json");
    }

    private String workspace(String bearer) {
        return api.get("/api/v1/whoami", "Authorization", bearer).json().at("/workspace/id").stringValue();
    }

    @Test
    void operatorsSeeProvidersAndNobodySeesKeys() {
        JsonNode small = api.get("/api/v1/models").json().at("/items/0");
        assertThat(small.get("name").stringValue()).isEqualTo("small");
        assertThat(small.get("base_url").stringValue()).isEqualTo("https://api.example.com/v1");
        assertThat(small.at("/usd_per_million_tokens/cache_read").decimalValue()).isEqualByComparingTo("0.025");
        assertThat(api.get("/api/v1/models").json().at("/items/2/fallback/1").stringValue()).isEqualTo("unpriced");
        assertThat(small.size()).as("api_key and headers are no members").isEqualTo(12);

        Answer foreign = api.get("/api/v1/models", "Authorization", api.stranger());
        assertThat(foreign.json().at("/items/0/base_url").isNull()).isTrue();
        assertThat(foreign.json().at("/items/1/usd_per_million_tokens").isNull()).isTrue();
        assertThat(foreign.json().at("/items/1/bytes_per_token").decimalValue()).isEqualByComparingTo("2.5");
    }

    @Test
    void pricesOfTheFileAreInThePriceList() {
        JsonNode price = api.get("/api/v1/prices").json().at("/items/0");
        assertThat(price.get("name").stringValue()).isEqualTo("small");
        assertThat(price.get("created_by").stringValue()).isEqualTo("models file");
        assertThat(api.get("/api/v1/audit").json().get("items").valueStream()
                .filter(entry -> entry.get("action").stringValue().equals("prices_changed"))
                .map(entry -> entry.at("/detail/model small/output").decimalValue().intValue()))
                .containsExactly(2);
        assertThat(api.post("/api/v1/runs", MISSION.formatted("small")).status()).isEqualTo(201);
        assertThat(api.post("/api/v1/runs", MISSION.formatted("unpriced")).json().get("code").stringValue())
                .isEqualTo("NO_PRICE");
        JsonNode fallback = api.post("/api/v1/runs", MISSION.formatted("wide")).json();
        assertThat(fallback.get("code").stringValue()).isEqualTo("NO_PRICE");
        assertThat(fallback.get("detail").stringValue()).contains("'wide' has a fallback without a price");
    }

    @Test
    void workspaceMissionAndTaskNarrowTheToolsOfAnAgent() {
        String bearer = api.stranger();
        String workspace = workspace(bearer);
        assertThat(change(workspace, "{\"denied_tools\": [\"process.*\"]}").json().at("/denied_tools/0").stringValue())
                .isEqualTo("process.*");
        String step = """
                {"name": "n", "config": {"denied_tools": ["echo"]}, "plan": {"tasks": [{"id": "a", "allowed_tools": ["*"],
                 "denied_tools": ["noop"], "steps": [{"tool": "%s", "input": %s}]}]}}""";
        for (String[] refused : new String[][] {
                {"process.run", "{\"argv\": [\"true\"]}", "workspace"}, {"echo", "{}", "mission"},
                {"noop", "{}", "task"}}) {
            JsonNode problem =
                    api.post("/api/v1/runs", step.formatted(refused[0], refused[1]), "Authorization", bearer).json();
            assertThat(problem.get("code").stringValue()).as(problem.toString()).isEqualTo("TOOL_REFUSED_BY");
            assertThat(problem.get("pointer").stringValue()).isEqualTo("/plan/tasks/0/steps/0/tool");
            assertThat(problem.get("detail").stringValue()).contains("'" + refused[0] + "'",
                    "a rule of the " + refused[2]);
        }

        String run = api.post("/api/v1/runs", """
                {"name": "n", "start": true, "config": {"denied_tools": ["echo"]}, "plan": {"tasks": [{"id": "a",
                 "denied_tools": ["fail"], "suggested_agent": {"type": "contractor",
                 "tools": ["noop", "echo", "fail", "process.run"]}}]}}""", "Authorization", bearer).json().get("id")
                .stringValue();
        JsonNode turn = api.post("/api/v1/dispatch/claim", """
                {"worker_id": "w", "tools": ["agent.turn"], "max": 1, "wait_ms": 20000, "lease_ms": 60000}""",
                "Authorization", bearer).json().at("/items/0");
        assertThat(turn.at("/input/tools").toString()).isEqualTo("[\"noop\"]");
        api.post("/api/v1/dispatch/complete", """
                {"worker_id": "w", "items": [{"step_id": %s, "lease_epoch": 1, "output": {"tool_calls": [{"name": "process.run"},
                 {"name": "echo"}, {"name": "fail"}, {"name": "http.request"}]}}]}""".formatted(turn.get("step_id")),
                "Authorization", bearer);
        List<JsonNode> calls = api.get("/api/v1/runs/" + run + "/steps", "Authorization", bearer).json().get("items")
                .valueStream().filter(each -> each.get("kind").stringValue().equals("call")).toList();
        assertThat(calls).hasSize(4).allMatch(
                call -> call.get("error_code").stringValue().equals("TOOL_NOT_ALLOWED"));
        assertThat(calls.stream().map(call -> api.get("/api/v1/steps/" + call.get("id").stringValue() + "/explain",
                "Authorization", bearer).json().get("reasons").valueStream()
                .filter(reason -> reason.get("code").stringValue().equals("TOOL_REFUSED_BY"))
                .map(reason -> reason.at("/on/0").stringValue()).findFirst().orElse("")))
                .containsExactly("workspace", "mission", "task", "agent");
    }

    @Test
    void workspaceUsesNoModelOutsideItsList() {
        String bearer = api.stranger();
        String workspace = workspace(bearer);
        assertThat(patch(workspace, "[\"other\"]").json().at("/allowed_models/0").stringValue()).isEqualTo("other");

        Answer run = api.post("/api/v1/runs", MISSION.formatted("small"), "Authorization", bearer);
        assertThat(run.status()).isEqualTo(422);
        assertThat(run.json().get("code").stringValue()).isEqualTo("MODEL_NOT_ALLOWED");
        assertThat(run.json().get("pointer").stringValue()).isEqualTo("/plan/tasks/0/suggested_model");
        Answer agent = api.post("/api/v1/agents", "{\"slug\": \"scribe\", \"model\": \"small\"}", "Authorization",
                bearer);
        assertThat(agent.status()).isEqualTo(422);
        assertThat(agent.json().get("pointer").stringValue()).isEqualTo("/model");
        assertThat(agent.json().get("code").stringValue()).isEqualTo("MODEL_NOT_ALLOWED");
        assertThat(api.get("/api/v1/models", "Authorization", bearer).json().at("/items/0/allowed").booleanValue())
                .isFalse();

        patch(workspace, "[\"small\"]");
        String planned = api.post("/api/v1/runs", MISSION.formatted("small"), "Authorization", bearer).text();
        assertThat(planned).contains("\"state\"");
        patch(workspace, "[]");
        assertThat(api.post("/api/v1/runs", MISSION.formatted("small"), "Authorization", bearer).status())
                .as("a document that was read before is judged by the new list").isEqualTo(422);
        assertThat(patch(workspace, "null").json().get("allowed_models").isNull()).isTrue();
        assertThat(api.post("/api/v1/agents", "{\"slug\": \"scribe\", \"model\": \"small\"}", "Authorization", bearer)
                .status()).isEqualTo(201);
        assertThat(api.get("/api/v1/audit?workspace_id=" + workspace).text())
                .contains("\"allowed_models\":[\"other\"]");
    }

    @Test
    void toolsDoNotReadTheFileOfAKey() {
        assertThat(read("models.yaml")).contains("completed");
        assertThat(read("provider.key")).contains("PATH_NOT_ALLOWED").doesNotContain(KEY);
    }

    private String read(String file) {
        String run = api.create("""
                {"name": "n", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
                  {"tool": "files.read", "input": {"path": "%s"}, "retry": {"max_attempts": 1}}]}]}}"""
                .formatted(file));
        return api.get("/api/v1/runs/" + run + "?wait_ms=20000").text();
    }
}
