package io.keelson.server.annex.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Run;
import io.keelson.client.AgentRequest;
import io.keelson.client.Keelson;
import io.keelson.devmodel.TestModel;
import io.keelson.server.annex.mcp.FakeMcpServer;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Calls of a turn that only read run at the same time; one that writes makes them wait for each other. */
class ReadingCallsTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String SCRIPT = """
            rules:
              - name: reads
                when: {turn: 1, text: "Read"}
                answer: {calls: [{tool: mcp_other_slow, input: {n: 1}}, {tool: mcp_other_slow, input: {n: 2}},
                    {tool: echo, input: {n: 3}}, {tool: mcp_other_slow, input: {n: 4}}]}
              - name: writes
                when: {turn: 1}
                answer: {calls: [{tool: mcp_other_slow, input: {n: 1}}, {tool: mcp_other_add, input: {n: 2}},
                    {tool: mcp_other_slow, input: {n: 3}}]}
              - {name: ends, answer: {text: "done"}}
            """;

    private TestModel model;
    private FakeMcpServer other;
    private Server server;
    private Keelson keelson;

    @BeforeEach
    void start(@TempDir Path folder) throws Exception {
        model = new TestModel(SCRIPT);
        other = new FakeMcpServer("{}");
        Files.writeString(folder.resolve("models.yaml"), """
                models:
                  small: {wire: openai-chat, base_url: "%s/v1", family: f, context_tokens: 9000, model: m,
                      max_output_tokens: 500, prices: {input: 1, output: 1}}
                """.formatted(model.uri("")));
        server = Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", folder.resolve("data").toString(),
                "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL", TestDatabase.text(TestDatabase.createUrl()),
                "KEELSON_MODELS", "models.yaml", "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true"), folder, folder));
        keelson = Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
        keelson.mcpServers().set("other", Json.read("""
                {"url": "%s", "tools": ["add", "slow"], "effects": {"add": "idempotent", "slow": "read"}}"""
                .formatted(other.url())));
        keelson.agents().create(AgentRequest.of("reader").model("small")
                .tools(List.of("mcp.other.add", "mcp.other.slow", "echo")));
    }

    @AfterEach
    void stop() throws Exception {
        other.close();
        server.close();
        model.close();
    }

    private List<String> calls(Run run) {
        return keelson.runs().steps(run.id()).stream().filter(step -> !step.tool().equals("model.turn"))
                .map(step -> step.tool() + " " + step.state()).toList();
    }

    private void awaitCalls(int count) {
        Awaitility.await().atMost(LIMIT).until(() -> other.calls("slow").size(), found -> found == count);
    }

    private void ended(Run run) {
        assertThat(keelson.runs().awaitEnd(run.id(), LIMIT).state()).isEqualTo("completed");
    }

    @Test
    void callsThatOnlyReadRunTogetherAndTheModelGetsTheirResultsInTheOrderItAsked() throws Exception {
        Run run = keelson.agents().run("reader", "Read", Map.of());
        awaitCalls(3);
        assertThat(calls(run)).containsExactly("mcp.other.slow running", "mcp.other.slow running", "echo completed",
                "mcp.other.slow running");
        other.released.release(3);
        ended(run);

        List<JsonNode> messages = model.journal().getLast().at("/body/messages").valueStream().toList();
        List<JsonNode> results = messages.stream().filter(each -> each.path("role").asString().equals("tool")).toList();
        JsonNode asked = messages.get(messages.indexOf(results.getFirst()) - 1).get("tool_calls");
        assertThat(results).extracting(each -> each.get("tool_call_id"))
                .containsExactlyElementsOf(asked.valueStream().map(call -> call.get("id")).toList());
        assertThat(results.get(0).toString()).contains("slow 1");
        assertThat(results.get(1).toString()).contains("slow 2");
        assertThat(results.get(2).toString()).contains("n").contains("3");
        assertThat(results.get(3).toString()).contains("slow 4");
    }

    @Test
    void oneCallThatWritesMakesAllOfThemWaitForEachOther() {
        Run run = keelson.agents().run("reader", "Write", Map.of());
        awaitCalls(1);
        assertThat(calls(run)).containsExactly("mcp.other.slow running", "mcp.other.add pending",
                "mcp.other.slow pending");
        other.released.release();
        awaitCalls(2);
        assertThat(calls(run)).containsExactly("mcp.other.slow completed", "mcp.other.add completed",
                "mcp.other.slow running");
        other.released.release();
        ended(run);
    }
}
