package io.keelson.server.annex.mcp.wire;

import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.JsonSize;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.base.process.InteractiveProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A client of one server, in the era that the server speaks. Thread-safe. */
public final class McpClient implements AutoCloseable {
    /** Most tools of a server. */
    public static final int MAX_TOOLS = 256;
    private static final int MAX_PAGES = 50;
    /** How long a program may be silent when asked as one of the newest era, before it is also asked for a handshake. */
    private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(5);

    private final Transport transport;
    private final String clientVersion;
    private boolean modern = true;
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
            Consumer<String> errors, String clientVersion, Duration timeout) throws McpException, InterruptedException {
        return ofCommand(command, folder, environment, errors, clientVersion, PROBE_TIMEOUT, timeout);
    }

    /** @param silence after which it is also asked for a handshake */
    static McpClient ofCommand(List<String> command, Path folder, Map<String, String> environment,
            Consumer<String> errors, String clientVersion, Duration silence, Duration timeout)
            throws McpException, InterruptedException {
        InteractiveProcess process;
        try {
            process = InteractiveProcess.start(command, folder, environment);
        } catch (IOException e) {
            throw McpException.unreachable("cannot start the server: " + e.getMessage());
        }
        try {
            return connected(new StdioTransport(process, errors), clientVersion, silence, timeout);
        } catch (McpException e) {
            throw e.code().equals("MCP_TIMEOUT")
                    ? e.saying("the program has not answered within " + timeout.toSeconds() + " s of its start")
                    : e;
        }
    }

    /**
     * @param headers sent with each request
     * @param tokens of which each request has one; null if absent
     */
    public static McpClient ofUrl(OutboundClient outbound, String url, Map<String, String> headers,
            @Nullable AccessTokens tokens, String clientVersion, Duration timeout)
            throws McpException, InterruptedException {
        return connected(new HttpTransport(outbound, url, headers, tokens), clientVersion, null, timeout);
    }

    /** @param silence after which a program is also asked for a handshake; null for a server behind HTTP */
    private static McpClient connected(Transport transport, String clientVersion, @Nullable Duration silence,
            Duration timeout) throws McpException, InterruptedException {
        McpClient client = new McpClient(transport, clientVersion);
        boolean done = false;
        try {
            client.connect(silence, timeout);
            done = true;
            return client;
        } finally {
            if (!done) {
                transport.close();
            }
        }
    }

    /** The server's answer to the first request. */
    private record Era(boolean modern, String version, JsonNode capabilities, JsonNode serverInfo) {}

    private void connect(@Nullable Duration silence, Duration timeout) throws McpException, InterruptedException {
        Era era = silence == null ? discovered(timeout).orElse(null) : firstAnswered(silence, timeout);
        if (era == null) {
            era = greeted(timeout);
        }
        modern = era.modern;
        version = era.version;
        capabilities = era.capabilities;
        serverInfo = era.serverInfo;
        if (!modern) {
            transport.notify("notifications/initialized", Json.object(), Map.of(Mcp.VERSION_HEADER, version), timeout);
        }
    }

    /**
     * Asks a program as one of the newest era. One that stays silent is also asked for a handshake: it may take long to start, or
     * be of an era that does not answer what it does not know. Its first answer decides.
     *
     * @param silence before it is asked for a handshake
     * @return null when it wants a handshake and has not been asked for one
     */
    private @Nullable Era firstAnswered(Duration silence, Duration timeout) throws McpException, InterruptedException {
        ExecutorService asking = Executors.newVirtualThreadPerTaskExecutor();
        try {
            CompletionService<Optional<Era>> answers = new ExecutorCompletionService<>(asking);
            answers.submit(() -> discovered(timeout));
            Future<Optional<Era>> first = answers.poll(silence.toMillis(), TimeUnit.MILLISECONDS);
            if (first != null) {
                return answer(first).orElse(null);
            }
            Future<Optional<Era>> greeting = answers.submit(() -> Optional.of(greeted(timeout)));
            for (int open = 2; open > 0; open--) {
                Future<Optional<Era>> done = answers.take();
                if (done.state() == Future.State.SUCCESS && done.resultNow().isPresent()) {
                    return done.resultNow().get();
                }
            }
            return answer(greeting).orElse(null);
        } finally {
            asking.shutdown();
        }
    }

    private static Optional<Era> answer(Future<Optional<Era>> done) throws McpException, InterruptedException {
        try {
            return done.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof McpException known ? known : McpException.lost(String.valueOf(e.getCause()));
        }
    }

    /** Empty when the server is not of the newest era. */
    private Optional<Era> discovered(Duration timeout) throws McpException, InterruptedException {
        try {
            JsonNode found = request("server/discover", Json.object(), Map.of(), timeout);
            return supports(found.path("supportedVersions"))
                    ? Optional.of(new Era(true, Mcp.MODERN, found.path("capabilities"),
                            found.path("_meta").path(Mcp.META_SERVER)))
                    : Optional.empty();
        } catch (McpException e) {
            boolean refused = e.outcome() == McpException.Outcome.REFUSED && e.permanent();
            if (!refused || Mcp.modernError(e.rpcCode()) && e.rpcCode() != Mcp.VERSION_UNSUPPORTED) {
                throw e;
            }
            return Optional.empty();
        }
    }

    private static boolean supports(JsonNode versions) {
        return versions.valueStream().anyMatch(each -> each.asString("").equals(Mcp.MODERN));
    }

    private Era greeted(Duration timeout) throws McpException, InterruptedException {
        ObjectNode params = Json.object().put("protocolVersion", Mcp.LEGACY);
        params.putObject("capabilities");
        params.set("clientInfo", clientInfo());
        JsonNode answer = transport.request("initialize", params, Map.of(), timeout);
        String spoken = answer.path("protocolVersion").asString("");
        if (!Mcp.HANDSHAKE.contains(spoken)) {
            throw McpException.forbidden("MCP_VERSION_UNSUPPORTED",
                    "the server speaks none of the revisions " + Mcp.MODERN + ", " + String.join(", ", Mcp.HANDSHAKE));
        }
        return new Era(false, spoken, answer.path("capabilities"), answer.path("serverInfo"));
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

    /** The server's tools as it describes them; at most {@value #MAX_TOOLS}, and as much as one message has. A cursor that comes again ends them. */
    public List<JsonNode> tools(Duration timeout) throws McpException, InterruptedException {
        List<JsonNode> tools = new ArrayList<>();
        if (!capabilities.has("tools")) {
            return tools;
        }
        @Nullable String cursor = null;
        Set<String> cursors = new HashSet<>();
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
            if (!answer.path("nextCursor").isString() || !cursors.add(answer.get("nextCursor").stringValue())) {
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
     * @param answers to an earlier answer's {@code inputRequests}; null if absent
     * @param state of that answer; null if absent
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
