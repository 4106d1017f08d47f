package io.keelson.server.mcp.wire;

import io.keelson.server.json.Json;
import io.keelson.server.json.JsonSize;
import io.keelson.server.outbound.OutboundClient;
import io.keelson.server.tool.builtin.InteractiveProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A client of one server, in the era that the server speaks. Thread-safe. */
public final class McpClient implements AutoCloseable {
    /** Most tools of a server. */
    public static final int MAX_TOOLS = 256;
    private static final int MAX_PAGES = 50;
    /** How long a server of the era with handshakes may be silent when asked as one of the other era. */
    private static final Duration PROBE_PATIENCE = Duration.ofSeconds(5);

    private final Transport transport;
    private final String clientVersion;
    private boolean modern;
    private String version = Mcp.MODERN;
    private JsonNode capabilities = Json.object();
    private JsonNode serverInfo = Json.object();

    private McpClient(Transport transport, String clientVersion) {
        this.transport = transport;
        this.clientVersion = clientVersion;
    }

    /**
     * Starts a process and connects to it.
     *
     * @param environment of the process, besides {@code PATH} and {@code LANG}
     * @param errors takes each line of its standard error
     * @param timeout until it must have answered
     */
    public static McpClient ofCommand(List<String> command, Path folder, Map<String, String> environment,
            Consumer<String> errors, String clientVersion, Duration timeout)
            throws McpException, InterruptedException {
        InteractiveProcess process;
        try {
            process = InteractiveProcess.start(command, folder, environment);
        } catch (IOException e) {
            throw McpException.unreachable("cannot start the server: " + e.getMessage());
        }
        try {
            return connected(new StdioTransport(process, errors), clientVersion, true, timeout);
        } catch (McpException e) {
            throw e.code().equals("MCP_TIMEOUT")
                    ? e.saying("the program has not answered within " + timeout.toSeconds() + " s of its start")
                    : e;
        }
    }

    /**
     * @param headers sent with each request
     * @param tokens of which each request has one; null for none
     */
    public static McpClient ofUrl(OutboundClient outbound, String url, Map<String, String> headers,
            @Nullable AccessTokens tokens, String clientVersion, Duration timeout)
            throws McpException, InterruptedException {
        return connected(new HttpTransport(outbound, url, headers, tokens), clientVersion, false, timeout);
    }

    private static McpClient connected(Transport transport, String clientVersion, boolean stdio, Duration timeout)
            throws McpException, InterruptedException {
        McpClient client = new McpClient(transport, clientVersion);
        boolean done = false;
        try {
            client.connect(stdio, timeout);
            done = true;
            return client;
        } finally {
            if (!done) {
                transport.close();
            }
        }
    }

    private void connect(boolean stdio, Duration timeout) throws McpException, InterruptedException {
        modern = true;
        Duration patience = stdio && PROBE_PATIENCE.compareTo(timeout) < 0 ? PROBE_PATIENCE : timeout;
        try {
            JsonNode found = request("server/discover", Json.object(), Map.of(), patience);
            if (supports(found.path("supportedVersions"))) {
                capabilities = found.path("capabilities");
                serverInfo = found.path("_meta").path(Mcp.META_SERVER);
                return;
            }
        } catch (McpException e) {
            boolean silent = stdio && e.code().equals("MCP_TIMEOUT");
            boolean refused = e.outcome() == McpException.Outcome.REFUSED && e.permanent();
            if (!silent && !refused || Mcp.modernError(e.rpcCode()) && e.rpcCode() != Mcp.VERSION_UNSUPPORTED) {
                throw e;
            }
        }
        handshake(timeout);
    }

    private static boolean supports(JsonNode versions) {
        return versions.valueStream().anyMatch(each -> each.asString("").equals(Mcp.MODERN));
    }

    private void handshake(Duration timeout) throws McpException, InterruptedException {
        modern = false;
        ObjectNode params = Json.object().put("protocolVersion", Mcp.LEGACY);
        params.putObject("capabilities");
        params.set("clientInfo", clientInfo());
        JsonNode answer = transport.request("initialize", params, Map.of(), timeout);
        version = answer.path("protocolVersion").asString("");
        if (!Mcp.HANDSHAKE.contains(version)) {
            throw McpException.forbidden("MCP_VERSION_UNSUPPORTED",
                    "the server speaks none of the revisions " + Mcp.MODERN + ", " + String.join(", ", Mcp.HANDSHAKE));
        }
        capabilities = answer.path("capabilities");
        serverInfo = answer.path("serverInfo");
        transport.notify("notifications/initialized", Json.object(), Map.of(Mcp.VERSION_HEADER, version), timeout);
    }

    private ObjectNode clientInfo() {
        return Json.object().put("name", "keelson").put("version", clientVersion);
    }

    private JsonNode request(String method, ObjectNode params, Map<String, String> more, Duration timeout)
            throws McpException, InterruptedException {
        Map<String, String> headers = new LinkedHashMap<>(more);
        headers.put(Mcp.VERSION_HEADER, version);
        if (modern) {
            headers.put(Mcp.METHOD_HEADER, method);
            ObjectNode meta = params.withObject("_meta");
            meta.put(Mcp.META_VERSION, version).set(Mcp.META_CLIENT, clientInfo());
            ObjectNode own = meta.putObject(Mcp.META_CAPABILITIES);
            own.putObject("elicitation").putObject("form");
            own.withObject("elicitation").putObject("url");
            own.putObject("extensions").putObject(Mcp.TASKS);
        }
        return transport.request(method, params, headers, timeout);
    }

    /** The revision that both sides speak. */
    public String version() {
        return version;
    }

    /** Name and version that the server gives itself. */
    public JsonNode serverInfo() {
        return serverInfo;
    }

    /** The server's tools as it describes them; at most {@value #MAX_TOOLS}, and as much as one message has. */
    public List<JsonNode> tools(Duration timeout) throws McpException, InterruptedException {
        List<JsonNode> tools = new ArrayList<>();
        if (!capabilities.has("tools")) {
            return tools;
        }
        @Nullable String cursor = null;
        long size = 0;
        for (int page = 0; page < MAX_PAGES && tools.size() < MAX_TOOLS; page++) {
            ObjectNode params = Json.object();
            if (cursor != null) {
                params.put("cursor", cursor);
            }
            JsonNode answer = request("tools/list", params, Map.of(), timeout);
            size += JsonSize.chars(answer, Transport.MAX_MESSAGE);
            if (size > Transport.MAX_MESSAGE) {
                throw McpException
                        .unreadable("the list of tools has more than " + Transport.MAX_MESSAGE + " characters");
            }
            answer.path("tools").forEach(each -> {
                if (tools.size() < MAX_TOOLS) {
                    tools.add(each);
                }
            });
            if (!answer.path("nextCursor").isString()) {
                return tools;
            }
            cursor = answer.get("nextCursor").stringValue();
        }
        return tools;
    }

    /**
     * A call of a tool.
     *
     * @param schema the tool's input schema, which may ask for headers
     * @param meta further members of {@code _meta}
     * @param answers to an earlier answer's {@code inputRequests}; null for none
     * @param state of that answer; null for none
     */
    public record ToolRequest(String tool, JsonNode schema, JsonNode arguments, ObjectNode meta,
            @Nullable JsonNode answers, @Nullable String state) {}

    /** The result as the server gives it, of whichever {@code resultType}. */
    public JsonNode call(ToolRequest call, Duration timeout) throws McpException, InterruptedException {
        ObjectNode params = Json.object().put("name", call.tool);
        params.set("arguments", call.arguments);
        params.set("_meta", call.meta.deepCopy());
        if (call.answers != null) {
            params.set("inputResponses", call.answers);
        }
        if (call.state != null) {
            params.put("requestState", call.state);
        }
        Map<String, String> headers = new LinkedHashMap<>();
        if (modern) {
            headers.put(Mcp.NAME_HEADER, ParameterHeaders.encoded(call.tool));
            headers.putAll(ParameterHeaders.of(call.schema, call.arguments));
        }
        return request("tools/call", params, headers, timeout);
    }

    /** A task as it is now. */
    public JsonNode task(String id, Duration timeout) throws McpException, InterruptedException {
        return ofTask("tasks/get", id, Json.object(), timeout);
    }

    /** Answers what a task asks. */
    public void updateTask(String id, JsonNode answers, Duration timeout) throws McpException, InterruptedException {
        ObjectNode params = Json.object();
        params.set("inputResponses", answers);
        ofTask("tasks/update", id, params, timeout);
    }

    /** Asks the server to cancel a task. */
    public void cancelTask(String id, Duration timeout) throws McpException, InterruptedException {
        ofTask("tasks/cancel", id, Json.object(), timeout);
    }

    private JsonNode ofTask(String method, String id, ObjectNode params, Duration timeout)
            throws McpException, InterruptedException {
        return request(method, params.put("taskId", id), Map.of(Mcp.NAME_HEADER, ParameterHeaders.encoded(id)),
                timeout);
    }

    /** False when another client is needed. */
    public boolean usable() {
        return transport.usable();
    }

    /** True when the server has said, since the last call, that its tools have changed. */
    public boolean toolsChanged() {
        return transport.toolsChanged();
    }

    @Override
    public void close() {
        transport.close();
    }
}
