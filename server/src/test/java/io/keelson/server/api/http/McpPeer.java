package io.keelson.server.api.http;

import io.keelson.server.annex.mcp.wire.JsonRpc;
import io.keelson.server.annex.mcp.wire.Mcp;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A client of {@code /mcp} that sends exactly what a test says. */
public final class McpPeer {

    /** What came back; the message is empty where there was none. */
    public record Answer(int status, JsonNode message) {

        public JsonNode result() {
            if (!message.has("result")) {
                throw new AssertionError(status + " " + message);
            }
            return message.get("result");
        }

        public int code() {
            return message.at("/error/code").asInt();
        }
    }

    private static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private final URI url;
    private final String authorization;
    private final String capabilities;

    /**
     * @param server its base address
     * @param authorization the header
     * @param capabilities JSON that requests of the newest revision declare
     */
    public McpPeer(URI server, String authorization, String capabilities) {
        this.url = URI.create(server + "/mcp");
        this.authorization = authorization;
        this.capabilities = capabilities;
    }

    /** A request of the newest revision, with all that it must have. */
    public Answer modern(String method, String params) {
        ObjectNode given = (ObjectNode) Json.read(params);
        ObjectNode meta = given.withObject("_meta").put(Mcp.META_VERSION, Mcp.MODERN);
        meta.set(Mcp.META_CAPABILITIES, Json.read(capabilities));
        Map<String, String> headers = new TreeMap<>(Map.of(Mcp.VERSION_HEADER, Mcp.MODERN, Mcp.METHOD_HEADER, method));
        for (String name : new String[] {"name", "uri", "taskId"}) {
            if (given.path(name).isString()) {
                headers.put(Mcp.NAME_HEADER, given.get(name).stringValue());
            }
        }
        return send(JsonRpc.request(1, method, given).toString(), headers);
    }

    /** A request of the newest revision with a handshake. */
    public Answer legacy(String method, String params) {
        return send(JsonRpc.request(1, method, (ObjectNode) Json.read(params)).toString(),
                Map.of(Mcp.VERSION_HEADER, Mcp.LEGACY));
    }

    /** The result of a tool, by the newest revision. */
    public JsonNode call(String tool, String arguments) {
        return modern("tools/call", "{\"name\": \"%s\", \"arguments\": %s}".formatted(tool, arguments)).result();
    }

    public Answer send(String body, Map<String, String> headers) {
        Map<String, String> all = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        all.put("Authorization", authorization);
        all.put("Content-Type", "application/json");
        all.put("Accept", "application/json, text/event-stream");
        all.putAll(headers);
        HttpRequest.Builder request = HttpRequest.newBuilder(url).timeout(Duration.ofSeconds(60))
                .POST(BodyPublishers.ofString(body));
        all.forEach(request::header);
        try {
            HttpResponse<byte[]> response = HTTP.send(request.build(), BodyHandlers.ofByteArray());
            return new Answer(response.statusCode(),
                    response.body().length == 0 ? Json.object() : Json.read(response.body()));
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
