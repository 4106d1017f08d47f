package io.keelson.server.annex.model;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A model that does all that a text says, in all places: it calls tools by lines {@code CALL tool {…}}, plans by
 * {@code PLAN {…}} and judges by {@code VERDICT {…}}. It speaks chat completions.
 */
final class ObedientModel implements AutoCloseable {
    private static final Pattern CALL = Pattern.compile("CALL (\\w+) (\\{.*})");
    private static final Pattern ANSWER = Pattern.compile("(?:PLAN|VERDICT) (\\{.*})");
    private static final Pattern CASE = Pattern.compile("Case (\\d+)\\.");
    private static final Pattern LONG = Pattern.compile("reads other parts with the id ([0-9a-f-]{36})");

    /** What it was asked, in the order of arrival. */
    final Queue<String> requests = new ConcurrentLinkedQueue<>();
    private final Map<Integer, JsonNode> first;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    /** @param first the first call of a case, by its number: {@code tool} and {@code input} */
    ObedientModel(Map<Integer, JsonNode> first) throws IOException {
        this.first = first;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/v1/chat/completions", this::answer);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/v1";
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String text = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            requests.add(text);
            JsonNode request = Json.read(text);
            ObjectNode message = obey(request);
            boolean streams = request.path("stream").asBoolean(false);
            byte[] body = (streams ? stream(message) : whole(message)).getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", streams ? "text/event-stream" : "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    /** The assistant's message: calls, or a text. */
    private ObjectNode obey(JsonNode request) {
        List<JsonNode> messages = request.path("messages").valueStream().toList();
        List<JsonNode> fresh = new ArrayList<>();
        for (int i = messages.size() - 1; i >= 0 && !messages.get(i).path("role").asString().equals("assistant"); i--) {
            fresh.addFirst(messages.get(i));
        }
        boolean begins = fresh.size() == messages.size();
        String text = fresh.stream().map(each -> each.path("content").asString("")).collect(Collectors.joining("\n"))
                + (begins ? descriptions(request) : "");
        Matcher answer = ANSWER.matcher(text);
        if (answer.find()) {
            return Json.object().put("role", "assistant").put("content", answer.group(1));
        }
        ArrayNode calls = Json.array();
        for (Matcher call = CALL.matcher(text); call.find();) {
            add(calls, call.group(1), call.group(2));
        }
        Matcher number = CASE.matcher(text);
        Matcher part = LONG.matcher(text);
        if (calls.isEmpty() && begins && number.find() && first.containsKey(Integer.parseInt(number.group(1)))) {
            JsonNode begin = first.get(Integer.parseInt(number.group(1)));
            add(calls, begin.get("tool").stringValue(), begin.get("input").toString());
        } else if (calls.isEmpty() && part.find()) {
            add(calls, "artifact_read", "{\"id\": \"" + part.group(1) + "\", \"from\": 20000, \"to\": 30000}");
        }
        ObjectNode message = Json.object().put("role", "assistant");
        return calls.isEmpty() ? message.put("content", "Done.") : message.putNull("content").set("tool_calls", calls);
    }

    private static String descriptions(JsonNode request) {
        return request.path("tools").valueStream().map(tool -> tool.at("/function/description").asString(""))
                .collect(Collectors.joining("\n", "\n", ""));
    }

    private static void add(ArrayNode calls, String tool, String input) {
        calls.addObject().put("index", calls.size()).put("id", "call_" + System.nanoTime() + "_" + calls.size())
                .put("type", "function").putObject("function").put("name", tool).put("arguments", input);
    }

    private static ObjectNode head(String kind) {
        return Json.object().put("id", "chatcmpl-1").put("object", kind).put("created", 1).put("model", "m");
    }

    private static String finish(ObjectNode message) {
        return message.has("tool_calls") ? "tool_calls" : "stop";
    }

    private static ObjectNode usage() {
        return Json.object().put("prompt_tokens", 10).put("completion_tokens", 10).put("total_tokens", 20);
    }

    private static String whole(ObjectNode message) {
        ObjectNode answer = head("chat.completion");
        answer.putArray("choices").addObject().put("index", 0).put("finish_reason", finish(message))
                .set("message", message);
        return answer.set("usage", usage()).toString();
    }

    private static String stream(ObjectNode message) {
        ObjectNode delta = head("chat.completion.chunk");
        delta.putArray("choices").addObject().put("index", 0).putNull("finish_reason").set("delta", message);
        ObjectNode end = head("chat.completion.chunk");
        end.putArray("choices").addObject().put("index", 0).put("finish_reason", finish(message))
                .set("delta", Json.object());
        ObjectNode last = head("chat.completion.chunk");
        last.putArray("choices");
        last.set("usage", usage());
        return "data: " + delta + "\n\ndata: " + end + "\n\ndata: " + last + "\n\ndata: [DONE]\n\n";
    }

    @Override
    public void close() {
        server.stop(0);
        threads.close();
    }
}
