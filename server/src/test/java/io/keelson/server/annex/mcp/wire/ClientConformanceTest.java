package io.keelson.server.annex.mcp.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.keelson.GeneratedDocs;
import io.keelson.core.Breadth;
import io.keelson.server.annex.mcp.NpmServers;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.outbound.OutboundClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The conformance suites of the protocol against this client. A suite starts its server and a small script, which has this test
 * call the server's tools. Scenarios about sign-in through a browser are left out.
 */
@Breadth.InPart(6)
class ClientConformanceTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final List<String> OLD = List.of("initialize", "tools_call", "elicitation-sep1034-client-defaults",
            "sse-retry", "auth/client-credentials-basic");
    private static final List<String> CURRENT = List.of("tools_call", "request-metadata",
            "sep-2322-client-request-state", "http-standard-headers", "http-custom-headers",
            "http-invalid-tool-headers", "json-schema-ref-no-deref", "json-schema-2020-12-preservation",
            "auth/client-credentials-basic");
    private static final String SCRIPT = """
            curl -sf --data-urlencode "url=$1" --data-urlencode "context=$MCP_CONFORMANCE_CONTEXT" http://127.0.0.1:%d/
            """;

    private final OutboundClient outbound = new OutboundClient(true);
    private final List<String> unexpected = new ArrayList<>();

    /**
     * Results of one suite.
     *
     * @param passed checks
     * @param failed scenarios with a check that did not pass; how many those are depends on when a suite's server ends
     */
    private record Count(int passed, int failed) {
        Count and(Count other) {
            return new Count(passed + other.passed, failed + other.failed);
        }
    }

    @Test
    void suitesPassButForTheBaselines(@TempDir Path folder) throws Exception {
        NpmServers.assumeAvailable();
        HttpServer driver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        driver.createContext("/", this::drive);
        driver.start();
        try (outbound) {
            Path script =
                    Files.writeString(folder.resolve("drive.sh"), SCRIPT.formatted(driver.getAddress().getPort()));
            Count old = new Count(0, 0);
            for (String scenario : OLD) {
                old = old.and(scenario(folder, script, "conformance-2025", "conformance-2025-11-25.yaml", scenario));
            }
            Count current = new Count(0, 0);
            for (String scenario : CURRENT) {
                current = current.and(scenario(folder, script, "conformance-2026", "conformance-2026-07-28.yaml",
                        scenario, "--spec-version", "2026-07-28"));
            }
            assertThat(unexpected).isEmpty();
            GeneratedDocs.check("docs/internals/proof.md", "mcp client conformance", """
                    | suite | revision | scenarios of clients | checks passed | scenarios with checks that did not pass, each with its reason in the baseline |
                    |---|---|---|---|---|
                    | 0.1.16 | 2025-11-25 | %d | %d | %d |
                    | 0.2.0-alpha.12 | 2026-07-28 | %d | %d | %d |
                    """.formatted(OLD.size(), old.passed, old.failed, CURRENT.size(), current.passed, current.failed));
        } finally {
            driver.stop(0);
        }
    }

    private Count scenario(Path folder, Path script, String suite, String baseline, String scenario,
            String... more) throws IOException, InterruptedException {
        Path results = folder.resolve(suite + scenario.replace('/', '-'));
        Process process = new ProcessBuilder(NpmServers.suite(suite, Stream.concat(
                Stream.of("client", "--command", "sh " + script, "--scenario", scenario, "-o", results.toString(),
                        "--expected-failures", NpmServers.source(baseline).toString()),
                Stream.of(more)).toArray(String[]::new))).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            unexpected.add(suite + " " + scenario + ": " + said);
        }
        try (Stream<Path> files = Files.walk(results)) {
            return files.filter(file -> file.endsWith("checks.json")).map(ClientConformanceTest::count)
                    .reduce(new Count(0, 0), Count::and);
        }
    }

    private static Count count(Path checks) {
        try {
            List<String> states = Json.read(Files.readString(checks)).valueStream()
                    .map(check -> check.path("status").asString()).toList();
            return new Count((int) states.stream().filter("SUCCESS"::equals).count(),
                    states.stream().anyMatch(List.of("FAILURE", "WARNING")::contains) ? 1 : 0);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Calls all tools of a server. */
    private void drive(HttpExchange exchange) throws IOException {
        Map<String, String> form = new HashMap<>();
        for (String member : new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8).split("&")) {
            form.put(member.substring(0, member.indexOf('=')),
                    URLDecoder.decode(member.substring(member.indexOf('=') + 1), StandardCharsets.UTF_8));
        }
        int status = 200;
        try {
            drive(form.get("url"), form.get("context").isEmpty() ? Json.object() : Json.read(form.get("context")));
        } catch (McpException e) {
            status = 500;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        exchange.sendResponseHeaders(status, -1);
        exchange.close();
    }

    private void drive(String url, JsonNode context) throws McpException, IOException, InterruptedException {
        try (McpClient client = McpClient.ofUrl(outbound, url, Map.of(), tokens(url, context), "1", LIMIT)) {
            List<JsonNode> tools = client.tools(LIMIT).stream()
                    .filter(tool -> ParameterHeaders.flaw(tool.path("inputSchema")) == null).toList();
            for (JsonNode tool : tools) {
                JsonNode given = context.path("toolCalls").valueStream()
                        .filter(call -> call.path("name").equals(tool.path("name"))).findFirst()
                        .map(call -> call.path("arguments")).orElseGet(() -> sample(tool.path("inputSchema"), tools));
                call(client, tool, given);
            }
        }
    }

    private static void call(McpClient client, JsonNode tool, JsonNode arguments)
            throws McpException, InterruptedException {
        @Nullable JsonNode answers = null;
        @Nullable String state = null;
        for (int round = 0; round < 5; round++) {
            JsonNode result = client.call(new McpClient.ToolRequest(tool.path("name").asString(),
                    tool.path("inputSchema"), arguments, Json.object(), answers, state), LIMIT);
            if (!result.path("resultType").asString("").equals("input_required")) {
                return;
            }
            ObjectNode given = Json.object();
            result.path("inputRequests").forEachEntry((name, question) -> given.putObject(name).put("action", "accept")
                    .set("content", sample(question.at("/params/requestedSchema"), List.of())));
            answers = given;
            state = result.path("requestState").stringValue(null);
        }
    }

    /** Arguments that fit a schema of simple members; a member for a schema gets the one of another tool. */
    private static ObjectNode sample(JsonNode schema, List<JsonNode> tools) {
        ObjectNode arguments = Json.object();
        schema.path("properties").forEachEntry((name, member) -> arguments.set(name,
                name.equals("schema") ? tools.getFirst().path("inputSchema")
                        : switch (member.path("type").asString("string")) {
                            case "number", "integer" -> Json.MAPPER.valueToTree(5);
                            case "boolean" -> Json.MAPPER.valueToTree(true);
                            case "object" -> Json.object();
                            case "array" -> Json.array();
                            default -> Json.MAPPER.valueToTree("text");
                        }));
        return arguments;
    }

    /** By client credentials, with the token endpoint that the server's documents name; null without a client. */
    private @Nullable AccessTokens tokens(String url, JsonNode context) throws IOException, InterruptedException {
        if (!context.has("client_secret")) {
            return null;
        }
        URI server = URI.create(url);
        JsonNode resource = document(server.resolve("/.well-known/oauth-protected-resource" + server.getPath()));
        URI issuer = URI.create(resource.at("/authorization_servers/0").asString());
        String path = issuer.getPath().equals("/") ? "" : issuer.getPath();
        JsonNode endpoints = document(issuer.resolve("/.well-known/oauth-authorization-server" + path));
        return new AccessTokens(outbound, new AccessTokens.Client(endpoints.path("token_endpoint").asString(),
                context.path("client_id").asString(), context.path("client_secret").asString(), url, null),
                System::nanoTime);
    }

    private static JsonNode document(URI address) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return Json.read(client.send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString())
                    .body());
        }
    }
}
