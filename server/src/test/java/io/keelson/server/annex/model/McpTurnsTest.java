package io.keelson.server.annex.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.api.work.McpServer;
import io.keelson.api.work.ToolInfo;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Agents that call tools of an MCP server. */
class McpTurnsTest {
    private static final String SCRIPT = """
            rules:
              - name: calls a tool that is no more
                when: {turn: 1, text: "Add unseen"}
                answer: {calls: [{tool: mcp.other.add, input: {n: 1}}]}
              - name: calls
                when: {turn: 1}
                answer: {calls: [{tool: mcp_other_add, input: {n: 1}}, {tool: mcp_other_fail, input: {}}]}
              - {name: ends, answer: {text: "done"}}
            """;

    /** The code and message of the skipped call of {@code mcp.other.add}. */
    private static String refusal(Keelson keelson, Run run) {
        Step call = keelson.runs().steps(run.id()).stream().filter(step -> step.tool().equals("mcp.other.add"))
                .findFirst().orElseThrow();
        assertThat(call.state()).isEqualTo("skipped");
        return call.errorCode() + " " + call.errorMessage();
    }

    @Test
    void agentIsShownTheToolsCallsThemAndSeesTheirErrors(@TempDir Path folder) throws Exception {
        try (TestModel model = new TestModel(SCRIPT); FakeMcpServer other = new FakeMcpServer("{}")) {
            Files.writeString(folder.resolve("models.yaml"), """
                    models:
                      small: {wire: openai-chat, base_url: "%s/v1", family: f, context_tokens: 9000, model: m,
                          max_output_tokens: 500, prices: {input: 1, output: 1}}
                    """.formatted(model.uri("")));
            try (Server server = Server.start(Settings.load(
                    Map.of("KEELSON_DATA_DIR", folder.resolve("data").toString(),
                            "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL",
                            TestDatabase.text(TestDatabase.createUrl()),
                            "KEELSON_MODELS", "models.yaml", "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true"),
                    folder, folder))) {
                Keelson keelson = Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
                McpServer set = keelson.mcpServers().set("other", Json.read("""
                        {"url": "%s", "tools": ["add", "fail"], "effects": {"add": "read", "fail": "read"}}"""
                        .formatted(other.url())));
                assertThat(set.error()).isNull();
                assertThat(set.tools()).extracting(McpServer.Tool::state).contains("allowed", "off");
                assertThat(keelson.tools()).filteredOn(tool -> tool.name().startsWith("mcp."))
                        .extracting(ToolInfo::name).containsExactly("mcp.other.add", "mcp.other.fail");
                keelson.agents().create(AgentRequest.of("caller").model("small")
                        .tools(List.of("mcp.other.add", "mcp.other.fail")).instructions("Call."));
                Run run = keelson.agents().run("caller", "Add and fail", Map.of());
                Run ended = keelson.runs().awaitEnd(run.id(), Duration.ofSeconds(60));
                assertThat(ended.state()).isEqualTo("completed");
                List<Step> steps = keelson.runs().steps(run.id());
                assertThat(steps).extracting(step -> step.tool() + " " + step.state()).containsExactlyInAnyOrder(
                        "model.turn completed", "mcp.other.add completed", "mcp.other.fail failed",
                        "model.turn completed");
                assertThat(model.journal().getLast().toString()).contains("no such file").contains("mcp_other_add");
                assertThat(other.calls("add")).hasSize(1);

                keelson.mcpServers().set("other", Json.read("""
                        {"url": "%s", "tools": ["add", "fail"], "effects": {"fail": "read"}}"""
                        .formatted(other.url())));
                Run asking = keelson.agents().run("caller", "Add again", Map.of());
                Awaitility.await().until(() -> keelson.runs().steps(asking.id()).stream()
                        .anyMatch(step -> step.state().equals("waiting_approval")));
                assertThat(other.calls("add")).as("a destructive call without an approval").hasSize(1);
                keelson.runs().approve(asking.id(), "once");
                assertThat(keelson.runs().awaitEnd(asking.id(), Duration.ofSeconds(60)).state()).isEqualTo("completed");
                assertThat(other.calls("add")).hasSize(2);

                keelson.mcpServers().set("other", Json.read("""
                        {"url": "%s", "tools": ["fail"], "effects": {"fail": "read"}}""".formatted(other.url())));
                assertThat(keelson.agents().get("caller").warnings())
                        .containsExactly("mcp.other.add: the MCP server 'other' has this tool, and it is off; "
                                + "`keelson mcp allow other add` allows it");
                Run off = keelson.agents().run("caller", "Add what is off", Map.of());
                assertThat(keelson.runs().awaitEnd(off.id(), Duration.ofSeconds(60)).state()).isEqualTo("completed");
                assertThat(refusal(keelson, off)).contains("MCP_TOOL_NOT_ALLOWED", "mcp.other.add: ", "it is off",
                        "`keelson mcp allow other add`");

                keelson.mcpServers().remove("other");
                Run unseen = keelson.agents().run("caller", "Add unseen", Map.of());
                assertThat(keelson.runs().awaitEnd(unseen.id(), Duration.ofSeconds(60)).state())
                        .isEqualTo("completed");
                assertThat(refusal(keelson, unseen)).contains("the workspace has no MCP server 'other'");
                assertThat(other.calls("add")).hasSize(2);
            }
        }
    }
}
