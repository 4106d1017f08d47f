package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Scope;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpSyncServer;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ReadResourceRequest;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import io.modelcontextprotocol.spec.McpSchema.ToolAnnotations;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The Java SDK of the protocol as a client of this server, and as a server that it calls. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class McpJavaSdkTest {
    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder, TestDatabase.createUrl(), Map.of("KEELSON_ALLOW_PRIVATE_ADDRESSES", "true"));
    }

    @AfterAll
    void stop() {
        api.close();
    }

    @Test
    void clientStartsAndReadsARun() {
        assertThat(api.post("/api/v1/recipes", """
                {"name": "sum", "mcp": true, "goal": "Adds two numbers",
                 "inputs": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 2}},
                 "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                   {"name": "add", "tool": "echo", "input": {"sum": "${ .inputs.a + .inputs.b }"}}]}]},
                 "output": "${ .tasks.one.output.sum }"}""").status()).isEqualTo(201);
        String key = api.bearer(Bootstrap.DEFAULT_WORKSPACE, Set.of(Scope.RUNS_READ, Scope.RUNS_WRITE));
        try (McpSyncClient client = McpClient.sync(HttpClientStreamableHttpTransport.builder(api.url().toString())
                .httpRequestCustomizer((request, method, uri, body, context) -> request.header("Authorization", key))
                .build()).build()) {
            assertThat(client.initialize().protocolVersion()).isEqualTo("2025-11-25");
            assertThat(client.listTools().tools()).extracting(Tool::name).contains("sum", "mission_status")
                    .doesNotContain("inbox_answer");
            CallToolResult started = client.callTool(new CallToolRequest("sum", Map.of("a", 40)));
            String run = Json.MAPPER.valueToTree(started.structuredContent()).path("run_id").asString();
            api.awaitState(run, "completed");
            CallToolResult ended = client.callTool(new CallToolRequest("mission_status", Map.of("run_id", run)));
            assertThat(Json.MAPPER.valueToTree(ended.structuredContent()).path("output").asInt()).isEqualTo(42);
            assertThat(client.readResource(new ReadResourceRequest("keelson://runs/" + run)).contents()).hasSize(1);
            assertThat(client.callTool(new CallToolRequest("sum", Map.of("a", "no"))).isError()).isTrue();
        }
    }

    @Test
    void programOfAStepListsAndCallsTools() {
        String claim = """
                {"worker_id": "w", "tools": ["test.remote"], "wait_ms": %d, "tool_specs": [{"name": "test.remote",
                  "gateway": {"tools": ["echo", "text.template"]}}]}""";
        api.post("/api/v1/dispatch/claim", claim.formatted(0));
        String run = api.create(ApiServer.REMOTE);
        JsonNode item = api.post("/api/v1/dispatch/claim", claim.formatted(20_000)).json().at("/items/0");
        String token = "Bearer " + item.at("/gateway/token").stringValue();
        try (McpSyncClient client = McpClient.sync(HttpClientStreamableHttpTransport.builder(api.url().toString())
                .endpoint("/gateway/mcp")
                .httpRequestCustomizer((request, method, uri, body, context) -> request.header("Authorization", token))
                .build()).build()) {
            assertThat(client.initialize().protocolVersion()).isEqualTo("2025-11-25");
            assertThat(client.listTools().tools()).extracting(Tool::name).containsExactly("echo", "text_template");
            CallToolResult echoed = client.callTool(new CallToolRequest("echo", Map.of("sum", 42)));
            assertThat(Json.MAPPER.valueToTree(echoed.structuredContent()).path("sum").asInt()).isEqualTo(42);
            assertThat(client.callTool(new CallToolRequest("text_template", Map.of())).isError()).isTrue();
        }
        assertThat(api.get("/api/v1/runs/" + run + "/steps").json().get("items")).hasSize(2);
    }

    @Test
    void serverIsCalledByAPlan() throws Exception {
        HttpServletStreamableServerTransportProvider transport =
                HttpServletStreamableServerTransportProvider.builder().mcpEndpoint("/mcp").build();
        McpSyncServer server = McpServer.sync(transport).serverInfo("java", "1").toolCall(Tool.builder().name("greet")
                .description("Greets a person")
                .inputSchema(Map.of("type", "object", "required", List.of("name"), "properties",
                        Map.of("name", Map.of("type", "string"))))
                .annotations(ToolAnnotations.builder().readOnlyHint(true).build()).build(),
                (exchange, call) -> CallToolResult.builder().addTextContent("Hello " + call.arguments().get("name"))
                        .build())
                .build();
        Server http = new Server(new InetSocketAddress("127.0.0.1", 0));
        ServletContextHandler servlets = new ServletContextHandler("/");
        ServletHolder holder = new ServletHolder(transport);
        holder.setAsyncSupported(true);
        servlets.addServlet(holder, "/*");
        http.setHandler(servlets);
        http.start();
        try {
            int port = ((ServerConnector) http.getConnectors()[0]).getLocalPort();
            ApiServer.Answer set = api.send("PUT", "/api/v1/mcp-servers/java",
                    "{\"url\": \"http://127.0.0.1:%d/mcp\", \"trusted\": true, \"tools\": [\"greet\"]}".formatted(port)
                            .getBytes(StandardCharsets.UTF_8),
                    "Content-Type", "application/json");
            assertThat(set.json().path("error").isNull()).as(set.text()).isTrue();
            assertThat(set.json().path("protocol").asString()).isEqualTo("2025-11-25");
            assertThat(set.json().at("/tools/0/effects").asString()).isEqualTo("read");
            String run = api.create("""
                    {"name": "greet", "start": true, "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                      {"name": "call", "tool": "mcp.java.greet", "input": {"name": "Ada"}}]}]}}""");
            api.awaitState(run, "completed");
            JsonNode step = api.get("/api/v1/runs/" + run + "/steps").json().at("/items/0");
            assertThat(step.at("/output/text").asString()).isEqualTo("Hello Ada");
        } finally {
            server.close();
            http.stop();
        }
    }
}
