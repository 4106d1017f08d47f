package io.keelson.server.annex.mcp;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.keelson.server.annex.mcp.wire.JsonRpc;
import io.keelson.server.annex.mcp.wire.Mcp;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A server of the stateless era behind HTTP, with tools that ask, work in tasks, break off and change. */
public final class FakeMcpServer implements AutoCloseable {
    private final HttpServer http;
    /** Each request's JSON-RPC message, with its headers as {@code _headers}. */
    public final List<JsonNode> requests = new CopyOnWriteArrayList<>();
    /** Called with each request's name of its tool or path, before it is answered. */
    public volatile Consumer<String> before = name -> {};
    /** The keys of the requests to {@code /effect}, beside the protocol. */
    public final List<String> effects = new CopyOnWriteArrayList<>();
    /** Status of tasks by their ids. */
    public final Map<String, String> tasks = new ConcurrentHashMap<>();
    /** Names of further tools, which answer {@link #text}. */
    public final List<String> more = new CopyOnWriteArrayList<>();
    public volatile String description = "Adds";
    public volatile String text = "sum";
    /** The title of {@code add}. */
    public volatile String title = "Add";
    /** The result of {@code note}; null for {@link #text}. */
    public volatile @Nullable JsonNode result;
    /** What {@code ask} asks. */
    public volatile String question = "Whom?";
    /** The code of the error that answers calls of tools; 0 for none. */
    public volatile int error;
    /** The header Authorization without which requests are refused; null where it does not matter. */
    public volatile @Nullable String wanted;
    private final String annotations;
    /** One permit for each call of {@code slow} that may end. */
    public final Semaphore released = new Semaphore(0);
    private volatile boolean closed;

    public FakeMcpServer(String annotations) throws IOException {
        this.annotations = annotations;
        http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        http.createContext("/mcp", this::answer);
        http.createContext("/effect", exchange -> {
            effects.add(exchange.getRequestHeaders().getFirst("Idempotency-Key"));
            before.accept("/effect");
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        http.createContext("/moved", exchange -> {
            exchange.getResponseHeaders().add("Location", url());
            exchange.sendResponseHeaders(307, -1);
            exchange.close();
        });
        http.start();
    }

    public String url() {
        return "http://127.0.0.1:" + http.getAddress().getPort() + "/mcp";
    }

    public List<JsonNode> calls(String tool) {
        return requests.stream().filter(each -> each.path("method").asString().equals("tools/call"))
                .filter(each -> each.at("/params/name").asString().equals(tool)).toList();
    }

    public List<JsonNode> of(String method) {
        return requests.stream().filter(each -> each.path("method").asString().equals(method)).toList();
    }

    private void answer(HttpExchange exchange) throws IOException {
        ObjectNode message = (ObjectNode) Json.read(exchange.getRequestBody().readAllBytes());
        ObjectNode headers = message.putObject("_headers");
        exchange.getRequestHeaders()
                .forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values.getFirst()));
        requests.add(message);
        before.accept(message.at("/params/name").asString(""));
        String authorization = wanted;
        if (authorization != null && !authorization.equals(exchange.getRequestHeaders().getFirst("Authorization"))) {
            byte[] refusal = Json.write(JsonRpc.error(message.get("id"), -32001, "unauthorized"));
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(401, refusal.length);
            exchange.getResponseBody().write(refusal);
            exchange.close();
            return;
        }
        JsonNode result = result(message);
        if (result.isMissingNode()) {
            exchange.close();
            return;
        }
        boolean fails = error != 0 && message.path("method").asString().equals("tools/call");
        byte[] body = Json.write(fails ? JsonRpc.error(message.get("id"), error, "failed")
                : JsonRpc.result(message.get("id"), result));
        boolean stream = message.path("method").asString().equals("tools/list");
        if (stream) {
            body = (": keep-alive\n\nevent: message\ndata: " + JsonRpc.result(message.get("id"), result) + "\n\n")
                    .getBytes(StandardCharsets.UTF_8);
        }
        exchange.getResponseHeaders().add("Content-Type", stream ? "text/event-stream" : "application/json");
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private JsonNode result(JsonNode message) {
        JsonNode params = message.path("params");
        return switch (message.path("method").asString()) {
            case "server/discover" -> Json.read("{\"resultType\": \"complete\", \"supportedVersions\": [\""
                    + Mcp.MODERN + "\"], \"capabilities\": {\"tools\": {}}}");
            case "tools/list" -> list();
            case "tools/call" -> call(params);
            case "tasks/get" -> task(params.path("taskId").asString());
            case "tasks/cancel" -> {
                tasks.put(params.path("taskId").asString(), "cancelled");
                yield Json.object().put("resultType", "complete");
            }
            default -> Json.object();
        };
    }

    private JsonNode list() {
        ArrayNode tools = Json.array();
        List<String> names =
                new ArrayList<>(List.of("add", "ask", "note", "visit", "work", "break", "big", "fail", "slow"));
        names.addAll(more);
        for (String name : names) {
            ObjectNode tool = tools.addObject().put("name", name)
                    .put("description", name.equals("add") ? description : "Tool " + name);
            tool.set("inputSchema", Json.read("""
                    {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties":
                      {"n": {"$ref": "#/$defs/N"}, "region": {"type": "string", "x-mcp-header": "Region"},
                       "code": {"type": "string", "pattern": "^.*.*.*.*.*.*=$"}},
                     "$defs": {"N": {"type": "integer"}}}"""));
            tool.set("annotations", Json.read(annotations));
            if (name.equals("add")) {
                tool.put("title", title);
            }
        }
        ObjectNode result = Json.object().put("resultType", "complete");
        result.set("tools", tools);
        return result;
    }

    private JsonNode call(JsonNode params) {
        return switch (params.path("name").asString()) {
            case "ask" -> params.has("inputResponses") ? text(params.at("/inputResponses/who/action").asString() + " "
                    + params.at("/inputResponses/who/content/name").asString("") + " "
                    + params.path("requestState").asString(""))
                    : Json.read("""
                            {"resultType": "input_required", "requestState": "opaque", "inputRequests": {"who": {
                              "method": "elicitation/create", "params": {"mode": "form", "message": "%s",
                              "requestedSchema": {"$schema": "https://json-schema.org/draft/2020-12/schema",
                                                  "type": "object", "required": ["name"],
                                                  "properties": {"name": {"type": "string"}}}}}}}"""
                            .formatted(question));
            case "visit" -> params.has("inputResponses") ? text(params.at("/inputResponses/page/action").asString())
                    : Json.read("""
                            {"resultType": "input_required", "inputRequests": {"page": {"method": "elicitation/create",
                              "params": {"mode": "url", "message": "Sign in", "elicitationId": "1",
                              "url": "https://sign-in.example/1"}}}}""");
            case "work" -> {
                tasks.putIfAbsent("t1", "working");
                yield Json.read("""
                        {"resultType": "task", "taskId": "t1", "status": "working", "pollIntervalMs": 200}""");
            }
            case "break" -> Json.MAPPER.missingNode();
            case "slow" -> {
                released.acquireUninterruptibly();
                yield closed ? Json.MAPPER.missingNode() : text("slow " + params.at("/arguments/n").asString());
            }
            case "note" -> result == null ? text(text) : result;
            case "big" -> text("x".repeat(100_000));
            case "fail" -> ((ObjectNode) text("no such file")).put("isError", true);
            default -> text(text);
        };
    }

    private JsonNode task(String id) {
        String status = tasks.getOrDefault(id, "failed");
        ObjectNode task = Json.object().put("resultType", "complete").put("taskId", id).put("status", status)
                .put("pollIntervalMs", 200);
        if (status.equals("completed")) {
            task.set("result", text("worked"));
        }
        return task;
    }

    private static JsonNode text(String text) {
        ObjectNode result = Json.object().put("resultType", "complete");
        result.putArray("content").addObject().put("type", "text").put("text", text);
        return result;
    }

    @Override
    public void close() {
        closed = true;
        released.release(1_000);
        http.stop(0);
    }
}
