package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.annex.mcp.wire.Mcp;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.plan.MissionNames;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Scope;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Keelson as a server of the Model Context Protocol: both eras, tools, resources and tasks. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class McpServerTest {
    private static final String TASKS =
            "{\"extensions\": {\"io.modelcontextprotocol/tasks\": {}}, \"elicitation\": {\"form\": {}}}";
    private static final Set<Scope> AGENT = EnumSet.of(Scope.RUNS_READ, Scope.RUNS_WRITE);

    private ApiServer api;
    private McpPeer person;
    private McpPeer agent;
    /** Knows no tasks. */
    private McpPeer plain;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder.resolve("data"));
        person = peer(Set.of(Scope.values()), TASKS);
        agent = peer(AGENT, TASKS);
        plain = peer(AGENT, "{}");
        recipe("""
                {"name": "sum", "mcp": true, "goal": "Adds two numbers",
                 "inputs": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 2}},
                 "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                   {"name": "add", "tool": "echo", "input": {"sum": "${ .inputs.a + .inputs.b }"}}]}]},
                 "output": "${ .tasks.one.output.sum }"}""");
        recipe("""
                {"name": "signed", "mcp": true, "plan": {"tasks": [{"id": "ask", "title": "Ask", "steps": [
                  {"name": "sign-off", "kind": "approval", "input": {"question": "Go on?"}}]}]}}""");
        recipe("""
                {"name": "broken", "mcp": true, "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                  {"name": "fail", "tool": "fail", "input": {"code": "BROKEN", "class": "permanent"}}]}]}}""");
        recipe("""
                {"name": "hidden", "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                  {"name": "say", "tool": "echo", "input": {}}]}]}}""");
    }

    @AfterAll
    void stop() {
        api.close();
    }

    private McpPeer peer(Set<Scope> scopes, String capabilities) {
        return new McpPeer(api.url(), api.bearer(Bootstrap.DEFAULT_WORKSPACE, scopes), capabilities);
    }

    private void recipe(String mission) {
        ApiServer.Answer made = api.post("/api/v1/recipes", mission);
        assertThat(made.status()).as(made.text()).isEqualTo(201);
    }

    @Test
    void clientsWithAHandshakeAreAnsweredInTheirRevision() {
        JsonNode same = agent.send("""
                {"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {"protocolVersion": "2025-06-18",
                 "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}""", Map.of()).result();
        assertThat(same.path("protocolVersion").asString()).isEqualTo("2025-06-18");
        assertThat(same.path("capabilities").has("tasks")).isFalse();
        JsonNode other = agent.send("""
                {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2024-11-05"}}""",
                Map.of()).result();
        assertThat(other.path("protocolVersion").asString()).isEqualTo(Mcp.LEGACY);
        assertThat(other.at("/capabilities/tasks/requests/tools/call").isObject()).isTrue();
        assertThat(agent.send("{\"jsonrpc\": \"2.0\", \"method\": \"notifications/initialized\"}",
                Map.of(Mcp.VERSION_HEADER, Mcp.LEGACY)).status()).isEqualTo(202);
        assertThat(agent.legacy("ping", "{}").result()).isEqualTo(Json.object());
        assertThat(agent.legacy("tools/list", "{}").result().path("tools")).isNotEmpty();
        assertThat(agent.legacy("prompts/list", "{}").code()).isEqualTo(Mcp.METHOD_NOT_FOUND);
        McpPeer.Answer unknown = agent.send("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}",
                Map.of(Mcp.VERSION_HEADER, "1999-01-01"));
        assertThat(unknown.status()).isEqualTo(400);
        assertThat(unknown.code()).isEqualTo(Mcp.VERSION_UNSUPPORTED);
    }

    @Test
    void clientsWithoutAHandshakeSayAllWithEachRequest() {
        JsonNode found = agent.modern("server/discover", "{}").result();
        assertThat(found.path("supportedVersions").valueStream().map(JsonNode::asString))
                .containsExactly("2026-07-28", "2025-11-25", "2025-06-18");
        assertThat(found.at("/capabilities/extensions").has(Mcp.TASKS)).isTrue();
        assertThat(found.path("_meta").path(Mcp.META_SERVER).path("name").asString()).isEqualTo("keelson");
        assertThat(found.path("resultType").asString()).isEqualTo("complete");
        Map<String, String> modern = Map.of(Mcp.VERSION_HEADER, Mcp.MODERN, Mcp.METHOD_HEADER, "tools/list");
        String noMeta = "{\"jsonrpc\": \"2.0\", \"id\": 7, \"method\": \"tools/list\"}";
        String whole = message(Mcp.MODERN, ", \"%s\": {}".formatted(Mcp.META_CAPABILITIES));

        refuses(noMeta, modern, Mcp.INVALID_PARAMS);
        refuses(message(Mcp.MODERN, ""), modern, Mcp.INVALID_PARAMS);
        refuses(whole, Map.of(), Mcp.HEADER_MISMATCH);
        refuses(whole, Map.of(Mcp.VERSION_HEADER, Mcp.LEGACY), Mcp.HEADER_MISMATCH);
        refuses(whole, Map.of(Mcp.VERSION_HEADER, Mcp.MODERN), Mcp.HEADER_MISMATCH);
        refuses(whole, Map.of(Mcp.VERSION_HEADER, Mcp.MODERN, Mcp.METHOD_HEADER, "tools/call"), Mcp.HEADER_MISMATCH);
        McpPeer.Answer version = refuses(message("2099-01-01", ", \"%s\": {}".formatted(Mcp.META_CAPABILITIES)),
                Map.of(Mcp.VERSION_HEADER, "2099-01-01"), Mcp.VERSION_UNSUPPORTED);
        assertThat(version.message().at("/error/data/supported/0").asString()).isEqualTo(Mcp.MODERN);
        assertThat(version.message().path("id").asInt()).isEqualTo(7);
        assertThat(agent.send(whole, modern).status()).isEqualTo(200);
        for (String removed : List.of("initialize", "ping", "tasks/result", "tasks/list", "no/such")) {
            McpPeer.Answer answer = agent.modern(removed, "{}");
            assertThat(answer.status()).as(removed).isEqualTo(404);
            assertThat(answer.code()).isEqualTo(Mcp.METHOD_NOT_FOUND);
        }
    }

    private static String message(String version, String more) {
        return "{\"jsonrpc\": \"2.0\", \"id\": 7, \"method\": \"tools/list\", \"params\": {\"_meta\": {\"%s\": \"%s\"%s}}}"
                .formatted(Mcp.META_VERSION, version, more);
    }

    private McpPeer.Answer refuses(String body, Map<String, String> headers, int code) {
        McpPeer.Answer answer = agent.send(body, headers);
        assertThat(answer.status()).as(answer.toString()).isEqualTo(400);
        assertThat(answer.code()).as(answer.toString()).isEqualTo(code);
        return answer;
    }

    @Test
    void namesInHeadersMayBeEncoded() {
        String uri = "keelson://runs/ä";
        String body = """
                {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "%s",
                 "_meta": {"%s": "%s", "%s": {}}}}""".formatted(uri, Mcp.META_VERSION, Mcp.MODERN,
                Mcp.META_CAPABILITIES);
        String encoded = "=?base64?" + Base64.getEncoder().encodeToString(uri.getBytes(StandardCharsets.UTF_8)) + "?=";
        Map<String, String> headers = Map.of(Mcp.VERSION_HEADER, Mcp.MODERN, Mcp.METHOD_HEADER, "resources/read",
                Mcp.NAME_HEADER, encoded);
        assertThat(agent.send(body, headers).code()).isEqualTo(Mcp.INVALID_PARAMS);
        assertThat(agent.send(body.replace("ä", "ö"), headers).code()).isEqualTo(Mcp.HEADER_MISMATCH);
    }

    @Test
    void messagesThatAreNoneAreRefused() {
        refuses("{", Map.of(), Mcp.PARSE_ERROR);
        refuses("[]", Map.of(), Mcp.INVALID_REQUEST);
        refuses("{\"id\": 1, \"method\": \"ping\"}", Map.of(), Mcp.INVALID_REQUEST);
        refuses("{\"jsonrpc\": \"2.0\", \"id\": null, \"method\": \"ping\"}", Map.of(), Mcp.INVALID_REQUEST);
        refuses("{\"jsonrpc\": \"2.0\", \"id\": 1}", Map.of(), Mcp.INVALID_REQUEST);
        refuses("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\", \"params\": []}", Map.of(),
                Mcp.INVALID_PARAMS);
        assertThat(agent.send("{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {}}", Map.of()).status()).isEqualTo(202);
        assertThat(agent.send("x", Map.of("Content-Type", "text/plain")).status()).isEqualTo(415);
        assertThat(agent.send("\"" + "x".repeat(17 << 20) + "\"", Map.of()).status()).isEqualTo(413);
        for (String method : List.of("GET", "DELETE")) {
            ApiServer.Answer answer = api.send(method, "/mcp", null);
            assertThat(answer.status()).isEqualTo(405);
            assertThat(answer.header("Allow")).isEqualTo("POST");
        }
    }

    @Test
    void pagesOfOtherOriginsAndRequestsWithoutAKeyGetNothing() {
        String ping = "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}";
        assertThat(agent.send(ping, Map.of("Origin", api.url().toString())).status()).isEqualTo(200);
        for (String origin : List.of("http://evil.example", "null", "https://127.0.0.1:" + api.url().getPort(),
                "http://127.0.0.1:1", "%")) {
            McpPeer.Answer answer = agent.send(ping, Map.of("Origin", origin));
            assertThat(answer.status()).as(origin).isEqualTo(403);
            assertThat(answer.message().path("code").asString()).isEqualTo("CROSS_SITE_REQUEST");
        }
        assertThat(new McpPeer(api.url(), "Bearer no-key", "{}").send(ping, Map.of()).status()).isEqualTo(401);
    }

    @Test
    void toolsAreListedAndCalledByScope() {
        assertThat(names(person)).containsAll(MissionNames.TAKEN).contains("sum", "signed").doesNotContain("hidden");
        assertThat(names(agent)).contains("mission_start", "mission_status", "inbox_list", "sum")
                .doesNotContain("inbox_answer", "approve_plan");
        assertThat(names(peer(EnumSet.of(Scope.RUNS_READ), "{}")))
                .containsExactlyInAnyOrder("mission_status", "explain", "inbox_list");
        assertThat(names(peer(EnumSet.of(Scope.WORK), "{}"))).isEmpty();

        String run = agent.call("signed", "{}").path("taskId").asString();
        awaitHuman(run);
        String item = plain.call("inbox_list", "{\"run_id\": \"%s\"}".formatted(run))
                .at("/structuredContent/items/0/id").asString();
        refusesTool(agent, "inbox_answer", "{\"id\": \"%s\", \"decision\": \"accept\"}".formatted(item),
                "SCOPE_MISSING");
        refusesTool(agent, "approve_plan", "{\"run_id\": \"%s\"}".formatted(run), "SCOPE_MISSING");
        refusesTool(peer(EnumSet.of(Scope.RUNS_READ), TASKS), "sum", "{\"a\": 1}", "SCOPE_MISSING");
        assertThat(api.run(run).path("waits_for_humans").asInt()).isEqualTo(1);
        JsonNode decided = person.call("inbox_answer",
                "{\"id\": \"%s\", \"decision\": \"accept\", \"reason\": \"fine\"}".formatted(item));
        assertThat(decided.at("/structuredContent/decision").asString()).isEqualTo("accepted");
        api.awaitState(run, "completed");
    }

    /** A client whose answer was lost repeats the call. */
    @Test
    void aPlanIsApprovedOnceAndTheCallMayBeRepeated() {
        String plan = "\"name\": \"approved\", \"plan\": {\"tasks\": [{\"id\": \"a\", \"steps\": ["
                + "{\"name\": \"x\", \"tool\": \"noop\"}]}]}";
        String run =
                api.create("{\"start\": true, \"config\": {\"autonomy\": {\"level\": \"approve\"}}, " + plan + "}");
        String call = "{\"run_id\": \"%s\", \"reason\": \"fine\"}".formatted(run);
        api.awaitState(run, "awaiting_approval");
        for (int i = 0; i < 2; i++) {
            JsonNode decided = person.call("approve_plan", call).path("structuredContent");
            assertThat(decided.path("decision").asString()).isEqualTo("accepted");
            assertThat(decided.path("run_id").asString()).isEqualTo(run);
            api.awaitState(run, "completed");
        }
        assertThat(api.get("/api/v1/runs/" + run + "/events").json().path("items").valueStream()
                .filter(event -> event.path("event_type").asString().equals("run_approved"))).hasSize(1);

        String never = api.create("{\"start\": true, " + plan + "}");
        refusesTool(person, "approve_plan", "{\"run_id\": \"%s\"}".formatted(never), "INVALID_STATE_TRANSITION");
        refusesTool(person, "approve_plan", "{\"run_id\": \"00000000-0000-7000-8000-00000000dead\"}",
                "RUN_NOT_FOUND");
    }

    private void awaitHuman(String run) {
        Awaitility.await().untilAsserted(
                () -> assertThat(api.run(run).path("waits_for_humans").asInt()).isEqualTo(1));
    }

    private static List<String> names(McpPeer peer) {
        return peer.modern("tools/list", "{}").result().path("tools").valueStream()
                .map(tool -> tool.path("name").asString()).toList();
    }

    private static void refusesTool(McpPeer peer, String tool, String arguments, String code) {
        JsonNode result = peer.call(tool, arguments);
        assertThat(result.path("isError").asBoolean()).as(result.toString()).isTrue();
        assertThat(Json.read(result.at("/content/0/text").asString()).path("code").asString()).isEqualTo(code);
    }

    @Test
    void toolsDescribeInputAndEffects() {
        JsonNode tools = person.modern("tools/list", "{}").result();
        assertThat(tools.path("cacheScope").asString()).isEqualTo("private");
        Set<String> reading = Set.of("mission_status", "explain", "inbox_list");
        tools.path("tools").forEach(tool -> {
            String name = tool.path("name").asString();
            boolean reads = tool.at("/annotations/readOnlyHint").booleanValue();
            assertThat(reads).as(name).isEqualTo(reading.contains(name));
            assertThat(tool.at("/annotations/destructiveHint").booleanValue()).as(name).isEqualTo(!reads);
            assertThat(tool.at("/inputSchema/type").asString()).isEqualTo("object");
            assertThat(tool.at("/outputSchema/type").asString()).isEqualTo("object");
        });
        JsonNode sum = tools.path("tools").valueStream().filter(tool -> tool.path("name").asString().equals("sum"))
                .findFirst().orElseThrow();
        assertThat(sum.path("description").asString()).contains("Adds two numbers");
        assertThat(sum.at("/inputSchema/properties/b/default").asInt()).isEqualTo(2);
        assertThat(sum.at("/inputSchema/required")).isEqualTo(Json.strings(List.of("a")));
        refusesTool(agent, "sum", "{}", "INPUT_MISSING");
        refusesTool(agent, "sum", "{\"a\": \"x\"}", "INPUT_INVALID");
        refusesTool(agent, "mission_start", "{}", "REQUIRED");
        refusesTool(agent, "mission_start", "{\"recipe\": \"sum\", \"x\": 1}", "INVALID_VALUE");
        refusesTool(agent, "mission_start", "{\"recipe\": \"none\"}", "UNKNOWN_REFERENCE");
        refusesTool(agent, "mission_status", "{\"run_id\": \"x\"}", "INVALID_VALUE");
        refusesTool(agent, "mission_status", "{\"run_id\": \"00000000-0000-7000-8000-00000000dead\"}",
                "RUN_NOT_FOUND");
        McpPeer.Answer unknown = agent.modern("tools/call", "{\"name\": \"none\"}");
        assertThat(unknown.code()).isEqualTo(Mcp.INVALID_PARAMS);
    }

    @Test
    void theHttpApiDescribesTheRoute() {
        JsonNode answer = api.post("/mcp", """
                {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "mission_start",
                 "arguments": {"recipe": "sum", "input": {"a": 1}, "idempotency_key": "described"}}}""").json();
        assertThat(answer.at("/result/structuredContent/name").asString()).isEqualTo("sum");
    }

    @Test
    void exposedRecipesHaveNamesOfTools() {
        for (String name : List.of("two words", "mission_start", "x".repeat(65))) {
            ApiServer.Answer answer = api.post("/api/v1/recipes", """
                    {"name": "%s", "mcp": true, "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                      {"name": "say", "tool": "echo", "input": {}}]}]}}""".formatted(name));
            assertThat(answer.status()).isEqualTo(422);
            assertThat(answer.json().path("pointer").asString()).isEqualTo("/name");
        }
    }

    @Test
    void aMissionIsStartedLookedAtAndCancelled() {
        JsonNode started = plain.call("sum", "{\"a\": 40}").path("structuredContent");
        String run = started.path("run_id").asString();
        api.awaitState(run, "completed");
        JsonNode status = plain.call("mission_status", "{\"run_id\": \"%s\"}".formatted(run));
        assertThat(status.at("/structuredContent/output").asInt()).isEqualTo(42);
        assertThat(status.at("/structuredContent/status").asString()).isEqualTo("completed");
        assertThat(Json.read(status.at("/content/0/text").asString())).isEqualTo(status.path("structuredContent"));
        assertThat(api.run(run).path("trigger").asString()).isEqualTo("mcp");

        String waiting = plain.call("create_mission", "{\"recipe\": \"signed\"}").at("/structuredContent/run_id")
                .asString();
        awaitHuman(waiting);
        JsonNode why = plain.call("explain", "{\"run_id\": \"%s\"}".formatted(waiting)).path("structuredContent");
        assertThat(why.path("reasons")).isNotEmpty();
        assertThat(plain.call("mission_status", "{\"run_id\": \"%s\"}".formatted(waiting))
                .at("/structuredContent/inbox_url").asString()).startsWith(api.url() + "/");
        assertThat(plain.call("run_cancel", "{\"run_id\": \"%s\", \"reason\": \"enough\"}".formatted(waiting))
                .path("isError").asBoolean(false)).isFalse();
        api.awaitState(waiting, "cancelled");
    }

    /** No worker serves a planner here. */
    @Test
    void statusOfAMissionThatWaitsHasTheReasonsOfAnExplanation() {
        String run = plain.call("mission_start", "{\"goal\": \"Tidy up\"}").at("/structuredContent/run_id").asString();
        api.awaitState(run, "planning");
        String arguments = "{\"run_id\": \"%s\"}".formatted(run);
        JsonNode status = plain.call("mission_status", arguments).path("structuredContent");
        assertThat(status.path("reasons").valueStream().map(reason -> reason.path("code").asString()))
                .contains("MISSING_WORKER");
        assertThat(status.path("reasons"))
                .isEqualTo(api.get("/api/v1/runs/" + run + "/explain").json().path("reasons"));
        plain.call("run_cancel", arguments);
        assertThat(plain.call("mission_status", arguments).path("structuredContent").has("reasons")).isFalse();
    }

    @Test
    void oneKeyStartsOneRun() {
        String arguments = "{\"recipe\": \"sum\", \"input\": {\"a\": 1}, \"idempotency_key\": \"once\"}";
        String first = plain.call("mission_start", arguments).at("/structuredContent/run_id").asString();
        assertThat(plain.call("mission_start", arguments).at("/structuredContent/run_id").asString()).isEqualTo(first);
        assertThat(agent.call("create_mission", arguments).path("taskId").asString()).isEqualTo(first);
        refusesTool(plain, "mission_start", arguments.replace("\"a\": 1", "\"a\": 2"), "IDEMPOTENCY_KEY_CONFLICT");
        String meta = """
                {"name": "sum", "arguments": {"a": 3}, "_meta": {"%s": "step-1"}}""".formatted(Mcp.META_EFFECT_KEY);
        String second = plain.modern("tools/call", meta).result().at("/structuredContent/run_id").asString();
        assertThat(plain.modern("tools/call", meta).result().at("/structuredContent/run_id").asString())
                .isEqualTo(second).isNotEqualTo(first);
    }

    @Test
    void aTaskIsARun() {
        JsonNode created = agent.call("sum", "{\"a\": 5}");
        assertThat(created.path("resultType").asString()).isEqualTo("task");
        String run = created.path("taskId").asString();
        api.awaitState(run, "completed");
        JsonNode task = agent.modern("tasks/get", task(run)).result();
        assertThat(task.path("status").asString()).isEqualTo("completed");
        assertThat(task.at("/result/structuredContent/output").asInt()).isEqualTo(7);
        assertThat(task.path("resultType").asString()).isEqualTo("complete");
        assertThat(agent.modern("tasks/cancel", task(run)).result().path("resultType").asString())
                .isEqualTo("complete");

        String broken = agent.call("broken", "{}").path("taskId").asString();
        api.awaitState(broken, "failed");
        JsonNode failed = agent.modern("tasks/get", task(broken)).result();
        assertThat(failed.path("status").asString()).isEqualTo("completed");
        assertThat(failed.at("/result/isError").asBoolean()).isTrue();

        McpPeer.Answer undeclared = plain.modern("tasks/get", task(run));
        assertThat(undeclared.status()).isEqualTo(400);
        assertThat(undeclared.code()).isEqualTo(Mcp.CAPABILITY_MISSING);
        assertThat(agent.modern("tasks/get", task("none")).code()).isEqualTo(Mcp.INVALID_PARAMS);
        McpPeer reader = peer(EnumSet.of(Scope.RUNS_READ), TASKS);
        McpPeer.Answer forbidden = reader.modern("tasks/cancel", task(run));
        assertThat(forbidden.status()).isEqualTo(403);
        assertThat(forbidden.message().at("/error/data/code").asString()).isEqualTo("SCOPE_MISSING");
    }

    private static String task(String run) {
        return "{\"taskId\": \"%s\"}".formatted(run);
    }

    @Test
    void aPersonAnswersThroughTheTaskAndAnAgentDoesNot() {
        String run = agent.call("signed", "{}").path("taskId").asString();
        awaitHuman(run);
        JsonNode shown = agent.modern("tasks/get", task(run)).result();
        assertThat(shown.path("status").asString()).isEqualTo("working");
        assertThat(shown.has("inputRequests")).isFalse();
        assertThat(shown.path("statusMessage").asString()).contains("waits for a person: " + api.url());

        JsonNode asked = person.modern("tasks/get", task(run)).result();
        assertThat(asked.path("status").asString()).isEqualTo("input_required");
        String key = asked.path("inputRequests").propertyNames().iterator().next();
        assertThat(asked.path("inputRequests").path(key).at("/params/message").asString()).contains("Go on?");
        String accept = answer(run, key, "{\"action\": \"accept\", \"content\": {\"decision\": \"accept\"}}");
        McpPeer.Answer refused = agent.modern("tasks/update", accept);
        assertThat(refused.status()).isEqualTo(403);
        assertThat(person.modern("tasks/update", answer(run, key, "{\"action\": \"accept\", \"content\": {}}")).code())
                .isEqualTo(Mcp.INVALID_PARAMS);
        person.modern("tasks/update", answer(run, key, "{\"action\": \"decline\"}")).result();
        person.modern("tasks/update", answer(run, "plan_" + run + ".x", "{\"action\": \"accept\"}")).result();
        assertThat(api.run(run).path("waits_for_humans").asInt()).isEqualTo(1);
        assertThat(person.modern("tasks/update", accept).result().path("resultType").asString()).isEqualTo("complete");
        api.awaitState(run, "completed");
        assertThat(person.modern("tasks/update", accept).result().path("resultType").asString()).isEqualTo("complete");
    }

    /** As when the task is done again between the look at its form and the answer. */
    @Test
    void reviewThroughTheTaskIsOfTheAttemptThatWasShown() {
        String run = api.create("""
                {"name": "review", "start": true, "plan": {"tasks": [{"id": "a", "success_criteria": "short",
                  "steps": [{"tool": "echo", "input": {"text": "long"}}], "verify": [{"kind": "human"}]}]}}""");
        awaitHuman(run);
        String key = person.modern("tasks/get", task(run)).result().path("inputRequests").propertyNames().iterator()
                .next();
        String accept = answer(run, key, "{\"action\": \"accept\", \"content\": {\"decision\": \"accept\"}}");
        api.sql("update orchestration_tasks set attempt_number = 7 where run_id = '" + run + "'");
        assertThat(person.modern("tasks/update", accept).toString()).contains("GATE_CHANGED");
        api.sql("update orchestration_tasks set attempt_number = 1 where run_id = '" + run + "'");
        person.modern("tasks/update", accept).result();
        api.awaitState(run, "completed");
    }

    @Test
    void formTakesOnlyItsOwnMembers() {
        String run = person.call("signed", "{}").path("taskId").asString();
        awaitHuman(run);
        String key = person.modern("tasks/get", task(run)).result().path("inputRequests").propertyNames().iterator()
                .next();
        String more = "{\"action\": \"accept\", \"content\": {\"decision\": \"accept\", \"content\": 1,"
                + " \"input\": \"x\", \"gate\": 99999999999, \"tasks\": {\"a\": \"b\"}}}";
        assertThat(person.modern("tasks/update", answer(run, key, more)).status()).isEqualTo(200);
        api.awaitState(run, "completed");
    }

    @Test
    void textThatCannotBeStoredIsRefused() {
        String whole = "{\"jsonrpc\": \"2.0\", \"id\": %s, \"method\": \"tools/call\", \"params\": %s}";
        for (String params : List.of("{\"name\": \"a\\u0000\"}",
                "{\"name\": \"sum\", \"arguments\": {\"a\": \"\\ud800\"}}",
                "{\"name\": \"mission_start\", \"arguments\": {\"recipe\": \"sum\", \"idempotency_key\": \"\\u0000\"}}",
                "{\"name\": \"mission_start\", \"arguments\": {\"recipe\": \"sum\\u0000\"}}",
                "{\"name\": \"sum\", \"arguments\": {\"a\": 1e4000}}")) {
            refuses(whole.formatted("1", params), Map.of(), Mcp.INVALID_REQUEST);
        }
        refuses(whole.formatted("\"\\udfff\"", "{\"name\": \"sum\"}"), Map.of(), Mcp.INVALID_REQUEST);
        String cursor = Base64.getUrlEncoder().encodeToString("mcp tools:\0".getBytes(StandardCharsets.UTF_8));
        assertThat(agent.modern("tools/list", "{\"cursor\": \"%s\"}".formatted(cursor)).code())
                .isEqualTo(Mcp.INVALID_PARAMS);
        JsonNode gate =
                person.call("inbox_answer", "{\"id\": \"task_1\", \"decision\": \"accept\", \"gate\": 99999999999}");
        assertThat(gate.toString()).contains("/gate");
    }

    private static String answer(String run, String key, String response) {
        ObjectNode params = Json.object().put("taskId", run);
        params.putObject("inputResponses").set(key, Json.read(response));
        return params.toString();
    }

    @Test
    void tasksOfTheRevisionWithAHandshakeAreAskedForAndAwaited() {
        assertThat(agent.legacy("tools/list", "{}").result().path("tools").valueStream()
                .filter(tool -> tool.at("/execution/taskSupport").asString("").equals("optional"))
                .map(tool -> tool.path("name").asString())).contains("mission_start", "sum").doesNotContain("explain");
        JsonNode atOnce = agent.legacy("tools/call", "{\"name\": \"sum\", \"arguments\": {\"a\": 1}}").result();
        assertThat(atOnce.at("/structuredContent/run_id").asString()).isNotEmpty();
        JsonNode created = agent.legacy("tools/call",
                "{\"name\": \"sum\", \"arguments\": {\"a\": 6}, \"task\": {\"ttl\": 1000}}").result();
        String run = created.at("/task/taskId").asString();
        JsonNode result = agent.legacy("tasks/result", task(run)).result();
        assertThat(result.at("/structuredContent/output").asInt()).isEqualTo(8);
        assertThat(result.path("_meta").path("io.modelcontextprotocol/related-task").path("taskId").asString())
                .isEqualTo(run);
        assertThat(agent.legacy("tasks/get", task(run)).result().path("status").asString()).isEqualTo("completed");
        assertThat(agent.legacy("tasks/cancel", task(run)).code()).isEqualTo(Mcp.INVALID_PARAMS);
        assertThat(agent.legacy("tools/call",
                "{\"name\": \"explain\", \"arguments\": {\"run_id\": \"%s\"}, \"task\": {}}".formatted(run)).code())
                .isEqualTo(Mcp.METHOD_NOT_FOUND);
        String broken = agent.legacy("tools/call", "{\"name\": \"broken\", \"task\": {}}").result()
                .at("/task/taskId").asString();
        api.awaitState(broken, "failed");
        assertThat(agent.legacy("tasks/get", task(broken)).result().path("status").asString()).isEqualTo("failed");
        assertThat(agent.legacy("tasks/result", task(broken)).result().path("isError").asBoolean()).isTrue();
    }

    @Test
    void runsReportsAndArtifactsAreResources() {
        String run = api
                .create("""
                {"name": "writes", "start": true, "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                  {"name": "text", "tool": "artifact.write", "input": {"name": "note.txt", "content": "written"}}]}]}}""");
        api.awaitState(run, "completed");
        JsonNode listed = agent.modern("resources/list", "{}").result();
        assertThat(listed.path("resources").valueStream().map(each -> each.path("uri").asString()))
                .contains("keelson://runs/" + run);
        assertThat(agent.modern("resources/templates/list", "{}").result().path("resourceTemplates")).hasSize(3);
        JsonNode content = read("keelson://runs/" + run);
        assertThat(Json.read(content.path("text").asString()).path("id").asString()).isEqualTo(run);
        Awaitility.await().untilAsserted(
                () -> assertThat(read("keelson://runs/" + run + "/report").path("text").asString()).contains("writes"));
        String artifact = api.get("/api/v1/runs/" + run + "/artifacts").json().at("/items/0/id").asString();
        JsonNode text = read("keelson://runs/" + run + "/artifacts/" + artifact);
        assertThat(text.path("text").asString()).contains("written");
        for (String uri : List.of("keelson://runs/x", "keelson://runs/" + artifact, "file:///etc/passwd",
                "keelson://runs/" + run + "/artifacts/" + run)) {
            McpPeer.Answer answer = agent.modern("resources/read", "{\"uri\": \"%s\"}".formatted(uri));
            assertThat(answer.code()).as(uri).isEqualTo(Mcp.INVALID_PARAMS);
            assertThat(answer.message().at("/error/data/uri").asString()).isEqualTo(uri);
            assertThat(agent.legacy("resources/read", "{\"uri\": \"%s\"}".formatted(uri)).code()).isEqualTo(-32002);
        }
        assertThat(peer(EnumSet.of(Scope.WORK), "{}").modern("resources/list", "{}").status()).isEqualTo(403);
    }

    private JsonNode read(String uri) {
        return agent.modern("resources/read", "{\"uri\": \"%s\"}".formatted(uri)).result().at("/contents/0");
    }

    @Test
    void listsArePaged() {
        for (int i = 0; i < 51; i++) {
            api.create(ApiServer.WAITS);
        }
        JsonNode first = agent.modern("resources/list", "{}").result();
        assertThat(first.path("resources")).hasSize(50);
        JsonNode second = agent.modern("resources/list",
                "{\"cursor\": \"%s\"}".formatted(first.path("nextCursor").asString())).result();
        assertThat(second.path("resources")).isNotEmpty();
        assertThat(second.at("/resources/0/uri")).isNotEqualTo(first.at("/resources/49/uri"));
        assertThat(agent.modern("resources/list", "{\"cursor\": \"x\"}").code()).isEqualTo(Mcp.INVALID_PARAMS);
        assertThat(agent.modern("tools/list", "{\"cursor\": \"x\"}").code()).isEqualTo(Mcp.INVALID_PARAMS);
    }

    @Test
    void anotherWorkspaceSeesNothing() {
        String run = agent.call("sum", "{\"a\": 1}").path("taskId").asString();
        McpPeer stranger = new McpPeer(api.url(), api.stranger(), TASKS);
        assertThat(names(stranger)).doesNotContain("sum");
        assertThat(stranger.modern("tools/call", "{\"name\": \"sum\", \"arguments\": {\"a\": 1}}").code())
                .isEqualTo(Mcp.INVALID_PARAMS);
        assertThat(stranger.modern("tasks/get", task(run)).code()).isEqualTo(Mcp.INVALID_PARAMS);
        assertThat(stranger.modern("tasks/cancel", task(run)).code()).isEqualTo(Mcp.INVALID_PARAMS);
        assertThat(stranger.modern("resources/read", "{\"uri\": \"keelson://runs/%s\"}".formatted(run)).code())
                .isEqualTo(Mcp.INVALID_PARAMS);
        assertThat(stranger.modern("resources/list", "{}").result().path("resources")).isEmpty();
        refusesTool(stranger, "run_cancel", "{\"run_id\": \"%s\"}".formatted(run), "RUN_NOT_FOUND");
    }
}
