package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.annex.mcp.FakeMcpServer;
import io.keelson.server.annex.mcp.TokenEndpoint;
import io.keelson.server.annex.mcp.wire.Mcp;
import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Scope;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.assertj.core.groups.Tuple;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** MCP servers behind HTTP, and their tools in plans. */
@Breadth.Spread
abstract class McpApiCases extends McpCases {
    McpApiCases(McpWorkspace mcp) {
        super(mcp);
    }

    @Test
    void namesThatAServerDoesNotHaveAreWarnedOfAndThenRefused() throws Exception {
        try (FakeMcpServer named = new FakeMcpServer("{}")) {
            String definition = "{\"url\": \"" + named.url() + "\", \"tools\": [%s], \"effects\": {%s}}";
            JsonNode first = mcp.put("named", definition.formatted("\"ad\", \"note\"", "\"nothing\": \"read\"")).json();
            assertThat(first.path("warnings").valueStream().map(JsonNode::asString)).containsExactly(
                    "the MCP server 'named' has no usable tool 'ad'; did you mean 'add'?; it has add, ask, big, break, "
                            + "fail, note, slow, visit, work",
                    "the MCP server 'named' has no usable tool 'nothing'; it has add, ask, big, break, fail, note, "
                            + "slow, visit, work");
            assertThat(api.get("/api/v1/mcp-servers/named").json().path("warnings")).isEqualTo(first.path("warnings"));

            Answer refused = mcp.put("named", definition.formatted("\"ad\", \"fresh\"", "\"a/b\": \"once\""));
            assertThat(refused.status()).isEqualTo(422);
            assertThat(refused.json().path("problems").valueStream()
                    .map(problem -> problem.path("code").asString() + problem.path("pointer").asString()))
                    .as("the name that the definition had before is none of them")
                    .containsExactly("UNKNOWN_TOOL/tools/1", "UNKNOWN_TOOL/effects/a~1b");
            named.more.add("fresh");
            JsonNode allowed = mcp.put("named", definition.formatted("\"add\", \"fresh\"", "")).json();
            assertThat(allowed.path("warnings")).isEmpty();
            assertThat(mcp.run("mcp.named.fresh", "{}")).isNotEmpty();
        }
        JsonNode away = mcp.put("away", "{\"url\": \"http://127.0.0.1:1/mcp\", \"tools\": [\"one\", \"*\"]}").json();
        assertThat(away.at("/warnings/0").asString()).contains("are not known yet", "one");
        assertThat(mcp.put("away", "{\"url\": \"http://127.0.0.1:1/mcp\", \"tools\": [\"two\"]}").status())
                .isEqualTo(200);
        assertThat(mcp.put("absent", "{\"command\": \"none\", \"tools\": [\"one\"]}").status()).isEqualTo(200);
        assertThat(api.post("/api/v1/missions/validate", """
                {"name": "calls", "plan": {"tasks": [{"id": "one", "steps": [{"tool": "mcp.absent.one"}]}]}}""").text())
                .contains("the MCP server 'absent' does not start, so that its tools are not known (",
                        "keelson-no-such-program", "`keelson mcp check absent` tries again");
        assertThat(mcp.put("other2", "{\"command\": \"nosuch\"}").json().path("detail").asString())
                .contains("the file of KEELSON_MCP_SERVERS has no command 'nosuch'; it has ", "mortal");
    }

    @Test
    void callThatWasNotSentCostsNothing() throws Exception {
        FakeMcpServer gone = new FakeMcpServer("{}");
        mcp.put("gone", gone, "*");
        api.put("/api/v1/prices",
                "{\"items\": [{\"kind\": \"tool\", \"name\": \"mcp.gone.note\", \"usd_per_call\": 0.5}]}");
        String sent = mcp.run("mcp.gone.note", "{}");
        api.awaitState(sent, "completed");
        assertThat(api.run(sent).path("credits_charged").decimalValue()).isEqualByComparingTo("0.5");
        String invalid = mcp.run("mcp.gone.note", "{\"n\": \"${ .run.name }\"}");
        api.awaitState(invalid, "failed");
        assertThat(mcp.step(invalid).path("error_code").asString()).isEqualTo("TOOL_INPUT_INVALID");
        assertThat(api.run(invalid).path("credits_charged").decimalValue()).isEqualByComparingTo("0");
        gone.close();
        String lost = api.create(McpWorkspace.CALL.replace("\"start\"",
                "\"config\": {\"timeouts\": {\"provider_wait_seconds\": 0.1}}, \"start\"")
                .formatted(true, "mcp.gone.note", "{}"));
        api.awaitState(lost, "failed");
        assertThat(mcp.step(lost).path("error_code").asString()).isEqualTo("MCP_UNREACHABLE");
        assertThat(mcp.step(lost).path("attempt").asInt()).as("a server that is away is waited for").isEqualTo(1);
        assertThat(api.run(lost).path("credits_charged").decimalValue()).isEqualByComparingTo("0");
        assertThat(api.get("/api/v1/runs/" + lost + "/ledger").json().path("items").valueStream()
                .map(row -> row.path("type").asString())).doesNotContain("charge");
    }

    @Test
    void toolsOfServersAreListedWithTheirDescriptions() throws Exception {
        try (FakeMcpServer listed = new FakeMcpServer("{\"readOnlyHint\": true}")) {
            mcp.put("listed", "{\"url\": \"%s\", \"trusted\": true, \"tools\": [\"add\", \"note\"]}"
                    .formatted(listed.url()));
            listed.description = "Adds otherwise";
            api.post("/api/v1/mcp-servers/listed/check", "");
            List<JsonNode> tools = api.get("/api/v1/tools?limit=200").json().path("items").valueStream()
                    .filter(tool -> tool.path("name").asString().startsWith("mcp.listed.")).toList();
            assertThat(tools).extracting(tool -> tool.path("name").asString(), tool -> tool.path("effects").asString(),
                    tool -> tool.path("description").asString(), tool -> tool.path("mcp").toString())
                    .containsExactly(
                            Tuple.tuple("mcp.listed.add", "read", "Adds",
                                    "{\"server\":\"listed\",\"state\":\"changed\",\"trusted\":true}"),
                            Tuple.tuple("mcp.listed.note", "read", "Tool note",
                                    "{\"server\":\"listed\",\"state\":\"allowed\",\"trusted\":true}"));
            api.send("DELETE", "/api/v1/mcp-servers/listed", null);
        }
    }

    @Test
    void tokensByClientCredentialsAreSentAndRedacted() throws Exception {
        try (FakeMcpServer guarded = new FakeMcpServer("{}");
                TokenEndpoint tokens = new TokenEndpoint("keelson", "client-secret-1")) {
            api.put("/api/v1/secrets/client", "{\"value\": \"client-secret-1\"}");
            guarded.wanted = "Bearer " + TokenEndpoint.token(1);
            guarded.text = "you sent " + TokenEndpoint.token(1);
            String definition = """
                    {"url": "%s", "tools": ["*"], "auth": {"type": "client_credentials", "token_url": "%s",
                     "client_id": "keelson", "client_secret": "${ secret(\\"client\\") }"}}"""
                    .formatted(guarded.url(), tokens.url());
            Answer set = mcp.put("oauth", definition);
            assertThat(set.json().path("error").isNull()).as(set.text()).isTrue();
            String run = mcp.run("mcp.oauth.add", "{}");
            api.awaitState(run, "completed");
            assertThat(mcp.text(run)).isEqualTo("you sent [secret]");
            assertThat(tokens.requests).hasSize(1);
            assertThat(api.get("/api/v1/mcp-servers/oauth").json().at("/auth/client_secret").asString())
                    .isEqualTo("${ secret(\"client\") }");
            api.put("/api/v1/secrets/client", "{\"value\": \"client-secret-2\"}");
            JsonNode refused = mcp.put("oauth", definition).json();
            assertThat(refused.path("error").asString())
                    .isEqualTo("MCP_AUTH_REFUSED: the token endpoint answered 401 invalid_client [secret]");
            assertThat(mcp.put("oauth", definition.replace("${ secret(\\\"client\\\") }", "plain")).text())
                    .contains("/auth/client_secret");
        }
    }

    @Test
    void privateAddressesNeedTheOperatorsPermission(@TempDir Path folder) throws Exception {
        try (ApiServer guarded = new ApiServer(folder)) {
            for (String url : List.of(other.url(), "http://localhost:1/mcp", "http://169.254.169.254/mcp")) {
                JsonNode set = guarded.put("/api/v1/mcp-servers/inside", "{\"url\": \"" + url + "\"}").json();
                assertThat(set.path("error").asString()).contains("OUTBOUND_ADDRESS_REFUSED");
            }
            guarded.put("/api/v1/secrets/client", "{\"value\": \"client-secret-1\"}");
            JsonNode set = guarded.put("/api/v1/mcp-servers/inside", """
                    {"url": "https://mcp.example/mcp", "auth": {"type": "client_credentials",
                     "token_url": "http://localhost:1/token", "client_id": "keelson",
                     "client_secret": "${ secret(\\"client\\") }"}}""").json();
            assertThat(set.path("error").asString()).contains("OUTBOUND_ADDRESS_REFUSED: the token endpoint");
            assertThat(guarded.put("/api/v1/mcp-servers/local", "{\"command\": \"files\"}").json().path("detail")
                    .asString())
                    .isEqualTo("the server has no command 'files', because KEELSON_MCP_SERVERS names no file with "
                            + "commands");
        }
    }

    @Test
    void toolIsCalledWithItsKeyItsSecretAndItsHeaders() {
        String run = mcp.run("mcp.other.add", "{\"n\": 1, \"region\": \"north\"}");
        api.awaitState(run, "completed");
        assertThat(mcp.text(run)).isEqualTo("sum");
        JsonNode call = other.calls("add").getFirst();
        assertThat(call.at("/_headers/authorization").asString()).isEqualTo("Bearer very-secret");
        assertThat(call.at("/_headers/mcp-param-region").asString()).isEqualTo("north");
        assertThat(call.at("/_headers/mcp-name").asString()).isEqualTo("add");
        assertThat(call.at("/params/_meta/io.keelson~1effectKey").asString()).contains(run);
        assertThat(api.get("/api/v1/mcp-servers/other").text()).doesNotContain("very-secret");
    }

    @Test
    void inputIsCheckedByTheSchemaOfTheTool() {
        Answer refused = api.post("/api/v1/runs", """
                {"name": "x", "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                  {"name": "call", "tool": "mcp.other.add", "input": {"n": "no"}}]}]}}""");
        assertThat(refused.text()).contains("TOOL_INPUT_INVALID");
    }

    /** A pattern that backtracks would take minutes for this. */
    @Test
    void patternOfAToolCannotHoldAThread() {
        long begun = System.nanoTime();
        Answer refused = api.post("/api/v1/runs", McpWorkspace.CALL.formatted(false, "mcp.other.add",
                "{\"code\": \"%s!\"}".formatted("a".repeat(120))));
        assertThat(refused.text()).contains("TOOL_INPUT_INVALID").contains("/code");
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(30));
    }

    @Test
    void taskIsPolledAndCancelledWithItsRun() {
        String run = mcp.run("mcp.other.work", "{}");
        Awaitility.await().atMost(LIMIT).until(() -> other.of("tasks/get").size() > 1);
        other.tasks.put("t1", "completed");
        api.awaitState(run, "completed");
        assertThat(mcp.text(run)).isEqualTo("worked");
        Awaitility.await().atMost(LIMIT).until(() -> waits(run) == 0);
        assertThat(other.of("tasks/cancel")).isEmpty();
        other.tasks.put("t1", "working");
        String second = mcp.run("mcp.other.work", "{}");
        int polled = other.of("tasks/get").size();
        Awaitility.await().atMost(LIMIT).until(() -> other.of("tasks/get").size() > polled);
        api.post("/api/v1/runs/" + second + "/cancel", "{}");
        Awaitility.await().atMost(LIMIT).until(() -> other.of("tasks/cancel").size() == 1);
    }

    private long waits(String run) {
        return api.database().withConnection(c -> {
            try (var s = c.createStatement(); ResultSet row = s.executeQuery(
                    "select count(*) from call_waits where run_id = '" + run + "'")) {
                row.next();
                return row.getLong(1);
            }
        });
    }

    @Test
    void callWithoutAnAnswerIsNotRepeatedUnlessItsServerIsTrusted() {
        String run = mcp.run("mcp.other.break", "{}");
        api.awaitState(run, "failed");
        assertThat(mcp.step(run).at("/error/code").asString(mcp.step(run).path("error_code").asString()))
                .isEqualTo("OUTCOME_UNKNOWN");
        assertThat(other.calls("break").stream()
                .filter(call -> call.toString().contains(run))).hasSize(1);
        mcp.put("trusted", "{\"url\": \"%s\", \"trusted\": true, \"tools\": [\"break\"]}".formatted(other.url()));
        String repeated = mcp.run("mcp.trusted.break", "{}");
        api.awaitState(repeated, "failed");
        assertThat(other.calls("break").stream().filter(call -> call.toString().contains(repeated))).hasSize(3);
    }

    @Test
    void errorOfAToolIsPermanentAndLongResultsAreArtifacts() {
        String failed = mcp.run("mcp.other.fail", "{}");
        api.awaitState(failed, "failed");
        assertThat(other.calls("fail").stream().filter(call -> call.toString().contains(failed))).hasSize(1);
        assertThat(mcp.step(failed).toString()).contains("MCP_TOOL_ERROR").contains("no such file");
        String big = mcp.run("mcp.other.big", "{}");
        api.awaitState(big, "completed");
        assertThat(mcp.step(big).at("/output/text_characters").asInt()).isEqualTo(100_000);
        assertThat(api.get("/api/v1/runs/" + big + "/artifacts").json().at("/items/0/size_bytes").asInt())
                .isEqualTo(100_000);
    }

    @Test
    void titlesAndAnnotationsAreBounded() throws Exception {
        try (FakeMcpServer noted = new FakeMcpServer("{\"title\": \"%s\"}".formatted("x".repeat(5_000)));
                FakeMcpServer titled = new FakeMcpServer("{}")) {
            assertThat(mcp.put("noted", "{\"url\": \"%s\"}".formatted(noted.url())).json().path("tools")).isEmpty();
            titled.title = "x".repeat(300);
            assertThat(mcp.put("titled", "{\"url\": \"%s\"}".formatted(titled.url())).json().path("tools").valueStream()
                    .map(tool -> tool.path("name").asString())).contains("ask").doesNotContain("add");
        }
    }

    @Test
    void textThatCannotBeStoredIsReplaced() throws Exception {
        try (FakeMcpServer odd = new FakeMcpServer("{}")) {
            odd.description = "Adds\u0000";
            odd.question = "Whom\\u0000?";
            Answer set = mcp.put("odd", odd, "*");
            assertThat(set.json().path("error").isNull()).as(set.text()).isTrue();
            api.awaitState(mcp.run("mcp.odd.add", "{}"), "completed");
            String run = mcp.run("mcp.odd.ask", "{}");
            Awaitility.await().atMost(LIMIT).until(() -> api.get("/api/v1/inbox?run_id=" + run).text()
                    .contains("Whom\uFFFD?"));
        }
    }

    /** Results that no server should give end the call by a code of the protocol, or are taken as they are. */
    @Test
    void absurdResultsAreRefusedOrKept() throws Exception {
        try (FakeMcpServer absurd = new FakeMcpServer("{}")) {
            mcp.put("absurd", absurd, "note");
            for (String kept : List.of("{}", "{\"content\": \"text\"}", "{\"content\": [1, null, {}, []]}",
                    "{\"content\": [{\"type\": \"text\", \"text\": 5}], \"structuredContent\": [1]}",
                    "{\"content\": [{\"type\": 1, \"uri\": {\"a\": 1}, \"size\": 1e400}]}",
                    "{\"content\": [{\"type\": \"resource\", \"resource\": {\"text\": \"x\", \"mimeType\": 7}}]}")) {
                absurd.result = Json.read(kept);
                api.awaitState(mcp.run("mcp.absurd.note", "{}"), "completed");
            }
            String long64k = "x".repeat(70_000);
            for (String refused : List.of("5", "[]", "{\"resultType\": \"odd\"}", "{\"resultType\": \"task\"}",
                    "{\"resultType\": \"task\", \"taskId\": {}}",
                    "{\"resultType\": \"task\", \"taskId\": \"" + long64k + "\"}",
                    "{\"resultType\": \"input_required\", \"inputRequests\": [{\"method\": \"elicitation/create\"}]}",
                    "{\"resultType\": \"input_required\", \"inputRequests\": {\"a\": {\"method\": \"roots/list\"}}}",
                    "{\"resultType\": \"input_required\", \"requestState\": \"" + long64k + "\"}",
                    "{\"resultType\": \"input_required\", \"inputRequests\": {\"a\": {\"method\":"
                            + " \"elicitation/create\", \"params\": {\"message\": \"" + long64k + "\"}}}}",
                    "{\"content\": [{\"type\": \"image\", \"data\": \"A\"}]}",
                    "{\"isError\": true, \"content\": {}}")) {
                absurd.result = Json.read(refused);
                String run = mcp.run("mcp.absurd.note", "{}");
                api.awaitState(run, "failed");
                assertThat(mcp.step(run).toString()).as(refused.substring(0, Math.min(100, refused.length())))
                        .containsPattern("MCP_(RESULT_INVALID|INPUT_NOT_SUPPORTED|TOOL_ERROR)|OUTCOME_UNKNOWN");
            }
        }
    }

    /** An internal error says nothing about what was done before it. */
    @Test
    void callWithAnInternalErrorIsNotRepeatedWhereThatMayDoHarm() throws Exception {
        try (FakeMcpServer failing = new FakeMcpServer("{}")) {
            failing.error = Mcp.INTERNAL_ERROR;
            mcp.put("failing", """
                    {"url": "%s", "tools": ["*"], "effects": {"add": "once", "note": "idempotent"}}"""
                    .formatted(failing.url()));
            String once = mcp.run("mcp.failing.add", "{}");
            api.awaitState(once, "failed");
            assertThat(mcp.step(once).toString()).contains("OUTCOME_UNKNOWN");
            assertThat(failing.calls("add")).hasSize(1);
            String repeated = mcp.run("mcp.failing.note", "{}");
            api.awaitState(repeated, "failed");
            assertThat(mcp.step(repeated).toString()).contains("MCP_REFUSED");
            assertThat(failing.calls("note")).hasSize(3);
        }
    }

    @Test
    void otherWorkspaceSeesNeitherServersNorTools() {
        String stranger = api.stranger();
        assertThat(api.get("/api/v1/mcp-servers", "Authorization", stranger).json().path("items")).isEmpty();
        assertThat(api.get("/api/v1/mcp-servers/other", "Authorization", stranger).status()).isEqualTo(404);
        assertThat(api.get("/api/v1/tools", "Authorization", stranger).text()).doesNotContain("mcp.other");
        assertThat(api.post("/api/v1/runs", """
                {"name": "x", "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                  {"name": "call", "tool": "mcp.other.add", "input": {}}]}]}}""", "Authorization", stranger).text())
                .contains("UNKNOWN_TOOL");
    }

    @Test
    void annotationsOfAnUntrustedServerDoNotCount() {
        assertThat(api.get("/api/v1/mcp-servers/other").json().at("/tools/0/effects").asString())
                .isEqualTo("destructive");
        Answer trusted = mcp.put("reads", "{\"url\": \"%s\", \"trusted\": true, \"effects\": {\"ask\": \"once\"}}"
                .formatted(other.url()));
        assertThat(trusted.json().at("/tools/0/effects").asString()).isEqualTo("read");
        assertThat(trusted.json().path("tools").valueStream().filter(each -> each.path("name").asString().equals("ask"))
                .findFirst().orElseThrow().path("effects").asString()).isEqualTo("once");
    }

    @Test
    void redirectIsNotFollowedAndBadDefinitionsChangeNothing() {
        Answer moved = mcp.put("moved", "{\"url\": \"%s\"}".formatted(other.url().replace("/mcp", "/moved")));
        assertThat(moved.json().path("error").asString()).contains("307");
        assertThat(mcp.put("bad", "{}").status()).isEqualTo(422);
        assertThat(mcp.put("bad", "{\"url\": \"http://x\", \"bearer\": \"${ inputs.x }\"}").text()).contains("/bearer");
        assertThat(mcp.put("bad", "{\"command\": \"ls\"}").text()).contains("/command");
        assertThat(mcp.put("bad", "{\"command\": \"ls\"}", "Authorization",
                api.bearer(Bootstrap.DEFAULT_WORKSPACE, Set.of(Scope.ADMIN))).status()).isEqualTo(403);
        assertThat(api.get("/api/v1/mcp-servers/bad").status()).isEqualTo(404);
        assertThat(api.send("DELETE", "/api/v1/mcp-servers/moved", null).status()).isEqualTo(204);
        assertThat(api.send("DELETE", "/api/v1/mcp-servers/moved", null).status()).isEqualTo(404);
    }
}
