package io.keelson.server.annex.mcp.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.keelson.core.Breadth;
import io.keelson.server.annex.mcp.NpmServers;
import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.base.json.Json;
import io.keelson.server.work.builtin.Processes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The client over a process, with servers of the npm registry and with broken ones. */
@Breadth.Spread
class McpClientTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    private Path folder;
    private final List<String> errors = new CopyOnWriteArrayList<>();

    private McpClient client(List<String> command) throws McpException, InterruptedException {
        return McpClient.ofCommand(command, folder, Map.of("MARK", "keelson-mcp-test"), errors::add, "1", LIMIT);
    }

    private static JsonNode call(McpClient client, String tool, String arguments)
            throws McpException, InterruptedException {
        return client.call(new McpClient.ToolRequest(tool, Json.object(), Json.read(arguments), Json.object(), null,
                null), LIMIT);
    }

    @Test
    void serverOfTheEraWithHandshakesIsFoundOutAndCalled() throws Exception {
        try (McpClient client = client(NpmServers.command("server-everything"))) {
            assertThat(client.version()).isEqualTo(Mcp.LEGACY);
            assertThat(client.tools(LIMIT)).extracting(tool -> tool.path("name").asString())
                    .contains("echo", "get-sum", "get-env");
            assertThat(call(client, "get-sum", "{\"a\": 2, \"b\": 40}").at("/content/0/text").asString())
                    .contains("42");
            String environment = call(client, "get-env", "{}").at("/content/0/text").asString();
            assertThat(Json.read(environment).propertyNames()).contains("MARK", "PATH").doesNotContain("HOME", "USER");
            assertThat(errors).anyMatch(line -> line.contains("Starting"));
        }
    }

    @Test
    void serverOfTheStatelessEraIsCalledWithoutAHandshake() throws Exception {
        try (McpClient client = client(NpmServers.own("modern.mjs"))) {
            assertThat(client.version()).isEqualTo(Mcp.MODERN);
            assertThat(client.tools(LIMIT)).extracting(tool -> tool.path("name").asString()).contains("greet");
            JsonNode asked = call(client, "greet", "{}");
            assertThat(asked.path("resultType").asString()).isEqualTo("input_required");
            JsonNode answers = Json.read("{\"who\": {\"action\": \"accept\", \"content\": {\"name\": \"Ada\"}}}");
            JsonNode answer = client.call(new McpClient.ToolRequest("greet", Json.object(), Json.object(),
                    Json.object(), answers, asked.path("requestState").asString(null)), LIMIT);
            assertThat(answer.at("/content/0/text").asString()).isEqualTo("Hello Ada");
        }
    }

    /** Answers nothing before it is also asked for a handshake, which it refuses. */
    @Test
    void slowServerOfTheStatelessEraIsNotTakenForAnOlderOne() throws Exception {
        try (McpClient client = silent("""
                answer "$handshake" '"error":{"code":-32601,"message":"no such method"}'
                answer "$discovery" '"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}'""")) {
            assertThat(client.version()).isEqualTo(Mcp.MODERN);
        }
    }

    @Test
    void serverThatIgnoresWhatItDoesNotKnowIsAskedForAHandshake() throws Exception {
        try (McpClient client = silent("""
                answer "$handshake" '"result":{"protocolVersion":"2025-06-18","capabilities":{}}'""")) {
            assertThat(client.version()).isEqualTo("2025-06-18");
        }
        McpException refused = catchThrowableOfType(McpException.class, () -> silent("""
                answer "$handshake" '"error":{"code":-32602,"message":"not you"}'
                answer "$discovery" '"error":{"code":-32601,"message":"no such method"}'"""));
        assertThat(refused).hasMessageContaining("not you");
    }

    /** Reads both requests, which may come in either order. */
    private static final String BOTH_REQUESTS = """
            for each in first second; do
                read -r line; id=${line##*'"id":'}; id=${id%%[!0-9]*}
                case $line in *'"initialize"'*) handshake=$id;; *) discovery=$id;; esac
            done
            answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\\n' "$1" "$2"; }
            """;

    /** A client of a program that is asked for a handshake almost at once, and answers as the script says. */
    private McpClient silent(String script) throws McpException, InterruptedException {
        return McpClient.ofCommand(List.of("sh", "-c", BOTH_REQUESTS + script + "\nsleep 1000"), folder, Map.of(),
                errors::add, "1", Duration.ofMillis(10), LIMIT);
    }

    @Test
    void processThatEndsLosesItsRequestsAndIsUnreachableAfterwards() throws Exception {
        try (McpClient client = client(List.of("sh", "-c", """
                read -r line; printf '{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],\
                "capabilities":{"tools":{}}}}\\n'; read -r line"""))) {
            McpException lost = catchThrowableOfType(McpException.class, () -> client.tools(LIMIT));
            assertThat(lost.outcome()).isEqualTo(McpException.Outcome.LOST);
            McpException gone = catchThrowableOfType(McpException.class, () -> client.tools(LIMIT));
            assertThat(gone.code()).isEqualTo("MCP_UNREACHABLE");
            assertThat(client.usable()).isFalse();
        }
    }

    @Test
    void floodsAreBounded() {
        McpException endless = catchThrowableOfType(McpException.class,
                () -> client(List.of("sh", "-c", "tr '\\0' x </dev/zero")));
        assertThat(endless).hasMessageContaining("more than 8388608 bytes");
        McpException many = catchThrowableOfType(McpException.class,
                () -> client(List.of("sh", "-c", "yes '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}'")));
        assertThat(many).hasMessageContaining("unasked messages");
    }

    @Test
    void processThatDoesNotReadItsInputEndsWithTheClient() throws Exception {
        Path pid = folder.resolve("pid");
        McpClient client = client(List.of("sh", "-c", """
                sleep 1000 & echo $! > pid; read -r line
                printf '{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}\\n'
                sleep 1000"""));
        long child = Long.parseLong(Files.readString(pid).strip());
        ObjectNode much = Json.object().put("text", "x".repeat(1 << 20));
        McpException late = catchThrowableOfType(McpException.class, () -> client.call(new McpClient.ToolRequest("any",
                Json.object(), much, Json.object(), null, null), Duration.ofMillis(500)));
        assertThat(late.code()).isEqualTo("MCP_TIMEOUT");
        long begun = System.nanoTime();
        client.close();
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(LIMIT);
        Awaitility.await().until(() -> !Processes.alive(child));
    }

    @Test
    void inputThatAProcessDoesNotReadIsBounded() throws Exception {
        try (McpClient client = client(List.of("sh", "-c", """
                read -r line
                printf '{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}\\n'
                sleep 1000"""))) {
            ObjectNode much = Json.object().put("text", "x".repeat(7 << 20));
            List<String> codes = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                codes.add(catchThrowableOfType(McpException.class, () -> client.call(new McpClient.ToolRequest("any",
                        Json.object(), much, Json.object(), null, null), Duration.ofMillis(1))).code());
            }
            assertThat(codes).startsWith("MCP_TIMEOUT").endsWith("MCP_UNREACHABLE");
        }
    }

    @Test
    void linesOfStandardErrorAreBoundedAndRead() throws Exception {
        McpException gone = catchThrowableOfType(McpException.class, () -> client(List.of("sh", "-c", """
                head -c 3000000 /dev/zero | tr '\\0' x >&2; echo >&2; printf 'Grüße' >&2""")));
        assertThat(gone.code()).isEqualTo("MCP_BROKEN_OFF");
        Awaitility.await().atMost(LIMIT).until(() -> errors.size() == 2);
        assertThat(errors.getFirst()).hasSize(2_000);
        assertThat(errors.getLast()).isEqualTo("Grüße");
    }

    @Test
    void outputThatIsNoMessageIsReadLikeAnError() {
        assertThatThrownBy(() -> client(List.of("sh", "-c", "echo Listening on port 3000")))
                .isInstanceOf(McpException.class);
        Awaitility.await().atMost(LIMIT)
                .until(() -> errors.equals(List.of("no message on standard output: Listening on port 3000")));
    }

    /** A log in JSON may name the id of the request that it is about. */
    @Test
    void lineOfALogIsNoAnswer() throws Exception {
        try (McpClient client = client(List.of("sh", "-c", """
                read -r line; printf '{"level":"info","msg":"incoming","id":1}\n{"id":1,"result":{}}\n'
                printf '{"jsonrpc":"2.0","id":1}\n{"jsonrpc":"2.0","id":"1","result":{}}\n'
                printf '{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}\n'
                read -r line"""))) {
            assertThat(client.version()).isEqualTo(Mcp.MODERN);
        }
        assertThat(errors).contains(
                "no message on standard output: {\"level\":\"info\",\"msg\":\"incoming\",\"id\":1}");
    }

    @Test
    void cursorThatComesAgainEndsTheListOfTools() throws Exception {
        try (McpClient client = client(List.of("sh", "-c", """
                read -r line
                printf '{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],\
                "capabilities":{"tools":{}}}}\\n'
                for id in 2 3; do read -r line
                printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"a"}],"nextCursor":"8"}}\\n' $id; done
                read -r line"""))) {
            assertThat(client.tools(LIMIT)).hasSize(2);
        }
    }

    /** The thread that reads the program's output knows no sender; so the sender takes the memory. */
    @Test
    void anAnswerTakesTheMemoryOfItsSender() throws Exception {
        DocumentMemory memory = new DocumentMemory(400);
        try (McpClient client = client(List.of("sh", "-c", """
                read -r line
                printf '{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],\
                "capabilities":{"tools":{}}}}\\n'
                read -r line; printf '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"}]}}\\n'
                read -r line""")); DocumentMemory.Share share = memory.share(new UUID(0, 1), Duration.ZERO)) {
            assertThatThrownBy(() -> share.within(() -> client.tools(LIMIT)))
                    .isInstanceOf(DocumentMemory.FullException.class);
        }
    }

    /** Too deep for a tree: only the request fails. */
    @Test
    void answerThatExceedsABoundFailsItsRequestOnly() throws Exception {
        try (McpClient client = client(List.of("sh", "-c", """
                read -r line
                printf '{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],\
                "capabilities":{"tools":{}}}}\\n'
                read -r line; printf '{"jsonrpc":"2.0","id":2,"result":%s%s}\\n' \
                "$(yes '{"a":' | head -n 300 | tr -d '\\n')1" "$(yes '}' | head -n 300 | tr -d '\\n')"
                read -r line; printf '{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"a"}]}}\\n'
                read -r line"""))) {
            McpException deep = catchThrowableOfType(McpException.class, () -> client.tools(LIMIT));
            assertThat(deep.code()).isEqualTo("OUTPUT_INVALID");
            assertThat(client.tools(LIMIT)).hasSize(1);
        }
    }

    @Test
    void hangingProcessAndItsChildrenEndWithTheClient() throws Exception {
        Path pid = folder.resolve("pid");
        McpClient client = client(List.of("sh", "-c", """
                trap '' TERM; sleep 1000 & echo $! > pid; read -r line
                printf '{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}\\n'
                while :; do sleep 1000; done"""));
        long child = Long.parseLong(Files.readString(pid).strip());
        assertThat(Processes.alive(child)).isTrue();
        client.close();
        Awaitility.await().until(() -> !Processes.alive(child));
    }
}
