package io.keelson.server.annex.mcp.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.outbound.OutboundClient;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Servers behind HTTP that answer more than they should, or break off. */
class HttpTransportTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final OutboundClient outbound = new OutboundClient(true);
    private final AtomicInteger pages = new AtomicInteger();
    private final AtomicInteger answers = new AtomicInteger();
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/mcp", this::answer);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
        outbound.close();
    }

    private void answer(HttpExchange exchange) throws IOException {
        JsonNode message = Json.read(exchange.getRequestBody().readAllBytes());
        JsonNode id = message.path("id");
        switch (message.path("method").asString("")) {
            case "initialize" -> send(exchange, "application/json", JsonRpc.result(id, Json.read("""
                    {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}""")).toString());
            case "tools/list" -> send(exchange, "application/json", JsonRpc.result(id, page()).toString());
            case "tools/call" -> call(exchange, message.at("/params/name").asString());
            case "server/discover" -> send(exchange, "application/json",
                    JsonRpc.error(id, Mcp.METHOD_NOT_FOUND, "no").toString());
            default -> {
                answers.addAndGet(message.has("result") ? 1 : 0);
                exchange.sendResponseHeaders(202, -1);
                exchange.close();
            }
        }
    }

    /** Many questions, or a text, a line or comments without an end. */
    private static void call(HttpExchange exchange, String tool) throws IOException {
        if (tool.equals("other id")) {
            send(exchange, "application/json", JsonRpc.result(Json.read("999"), Json.object()).toString());
            return;
        }
        if (tool.equals("no version")) {
            send(exchange, "application/json", "{\"id\": 3, \"result\": {}}");
            return;
        }
        if (!tool.startsWith("endless")) {
            send(exchange, "text/event-stream",
                    "data: {\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}\n\n".repeat(10_000));
            return;
        }
        exchange.getResponseHeaders().add("Content-Type",
                tool.equals("endless text") ? "application/json" : "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        byte[] part = (tool.equals("endless comments") ? ": \n" : "x".repeat(100_000)).getBytes(StandardCharsets.UTF_8);
        try (OutputStream body = exchange.getResponseBody()) {
            while (true) {
                body.write(part);
            }
        }
    }

    @Test
    void answerToAnotherRequestIsNone() throws Exception {
        try (McpClient client = client()) {
            for (String tool : List.of("other id", "no version")) {
                McpException other = catchThrowableOfType(McpException.class, () -> client.call(
                        new McpClient.ToolRequest(tool, Json.object(), Json.object(), Json.object(), null, null),
                        LIMIT));
                assertThat(other.code()).as(tool).isEqualTo("MCP_ANSWER_UNREADABLE");
            }
        }
    }

    @Test
    void answersWithoutAnEndAreBounded() throws Exception {
        try (McpClient client = client()) {
            for (String tool : List.of("endless text", "endless line", "endless comments")) {
                McpException bounded = catchThrowableOfType(McpException.class, () -> client.call(
                        new McpClient.ToolRequest(tool, Json.object(), Json.object(), Json.object(), null, null),
                        LIMIT));
                assertThat(bounded.code()).as(tool).isEqualTo("MCP_ANSWER_UNREADABLE");
                assertThat(bounded.outcome()).isEqualTo(McpException.Outcome.LOST);
            }
        }
    }

    private ObjectNode page() {
        ObjectNode page = Json.object().put("nextCursor", "more " + pages.incrementAndGet());
        page.putArray("tools").addObject().put("name", "large").put("title", "x".repeat(3 << 20));
        return page;
    }

    private static void send(HttpExchange exchange, String type, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().add("Content-Type", type);
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private McpClient client() throws McpException, InterruptedException {
        return McpClient.ofUrl(outbound, "http://127.0.0.1:" + server.getAddress().getPort() + "/mcp", Map.of(), null,
                "1", LIMIT);
    }

    @Test
    void questionsWithinOneAnswerAreBounded() throws Exception {
        try (McpClient client = client()) {
            McpException asked = catchThrowableOfType(McpException.class, () -> client.call(
                    new McpClient.ToolRequest("any", Json.object(), Json.object(), Json.object(), null, null), LIMIT));
            assertThat(asked).hasMessageContaining("asks more than 100 times");
            assertThat(asked.outcome()).isEqualTo(McpException.Outcome.LOST);
        }
        assertThat(answers.get()).isLessThanOrEqualTo(100);
    }

    /** A thread of the HTTP client reads the answer, within the memory of the thread that has sent the request. */
    @Test
    void anAnswerTakesTheMemoryOfItsSender() throws Exception {
        DocumentMemory memory = new DocumentMemory(1 << 20);
        try (McpClient client = client(); DocumentMemory.Share share = memory.share(new UUID(0, 1), Duration.ZERO)) {
            assertThatThrownBy(() -> share.within(() -> client.tools(LIMIT)))
                    .isInstanceOf(DocumentMemory.FullException.class);
        }
    }

    @Test
    void listOfToolsIsBoundedOverAllPages() throws Exception {
        try (McpClient client = client()) {
            McpException large = catchThrowableOfType(McpException.class, () -> client.tools(LIMIT));
            assertThat(large).hasMessageContaining("the list of tools has more than");
        }
    }

    @Test
    void onlyAHandshakeThatFailsMeansThatNothingWasSent() {
        assertThat(HttpTransport.failure(new SSLHandshakeException("unknown issuer")).outcome())
                .isEqualTo(McpException.Outcome.NOT_SENT);
        assertThat(HttpTransport.failure(new SSLException("broken off")).outcome())
                .isEqualTo(McpException.Outcome.LOST);
    }
}
