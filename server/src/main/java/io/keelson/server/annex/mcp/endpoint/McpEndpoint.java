package io.keelson.server.annex.mcp.endpoint;

import io.keelson.server.annex.mcp.wire.JsonRpc;
import io.keelson.server.annex.mcp.wire.Mcp;
import io.keelson.server.api.http.ApiParts;
import io.keelson.server.api.http.inbox.InboxDecisions;
import io.keelson.server.api.http.inbox.InboxItems;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.KnownHosts;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.SessionCookie;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import io.keelson.server.base.json.SafeText;
import io.keelson.server.mission.recipe.RecipeStore;
import java.io.IOException;
import java.net.URI;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code POST /mcp}: one message of the protocol, answered with one JSON document. */
public final class McpEndpoint {
    private static final String INSTRUCTIONS = """
            Keelson executes missions as durable runs. Start one with mission_start or with a recipe's own tool, and look at \
            it with mission_status. A run that waits for a person says so; explain says why anything else waits.""";
    private static final int ACCEPTED = 202;
    private static final int NOT_FOUND = 404;
    private static final int OK = 200;

    private final McpTools tools;
    private final McpResources resources;
    private final McpTasks tasks;
    private final KnownHosts hosts;
    private final SessionCookie cookie;
    /** Shown to clients. */
    private final String serverVersion;

    private McpEndpoint(McpTools tools, McpResources resources, McpTasks tasks, KnownHosts hosts, SessionCookie cookie,
            String serverVersion) {
        this.tools = tools;
        this.resources = resources;
        this.tasks = tasks;
        this.hosts = hosts;
        this.cookie = cookie;
        this.serverVersion = serverVersion;
    }

    /** Builds the endpoint over parts of the API: each tool and resource does what a route does. */
    public static McpEndpoint of(ApiParts api, Database database) {
        ApiParts.Runs runs = api.runs();
        InboxItems items = api.inbox().items();
        InboxDecisions decisions = api.inbox().decisions();
        OfferedRunDocuments documents =
                new OfferedRunDocuments(api.reads(), new PageLinks(api.cookie(), api.options().dashboard() != null));
        RunStarts starts = new RunStarts(runs.creation(), api.idempotency());
        McpTasks tasks = new McpTasks(api.reads(), runs.actions(), documents, new InboxQuestions(items, decisions),
                runs.ends(), api.options().longestPoll());
        McpTools tools = new McpTools(
                new OfferedRunTools(starts, runs.missions(), documents, runs.explain(), runs.actions(), items,
                        decisions),
                new RecipeTools(database, new RecipeStore(), runs.missions(), starts), documents, tasks);
        return new McpEndpoint(tools, new McpResources(api.reads(), runs.reports(), runs.artifacts()), tasks,
                api.hosts(), api.cookie(), api.options().version());
    }

    public void addTo(Route.Table table) {
        table.postRawAtRoot("/mcp", this::answer);
    }

    private ApiResponse answer(ApiRequest request) throws IOException, InterruptedException {
        requireOwnOrigin(request);
        request.body().requireType("application/json");
        byte[] body = request.body().bytes();
        JsonNode message;
        try {
            message = OutsideJson.readStrict(body);
        } catch (JacksonException e) {
            return refused(RpcError.malformed(Mcp.PARSE_ERROR, "the body is not JSON"), null);
        }
        if (!SafeText.clean(message).equals(message)) {
            return refused(
                    RpcError.malformed(Mcp.INVALID_REQUEST, "the message has a NUL character, half of a surrogate"
                            + " pair or a number that cannot be stored"),
                    null);
        }
        JsonNode id = id(message);
        try {
            return answer(request, message, id);
        } catch (RpcError e) {
            return refused(e, id);
        } catch (ApiProblem e) {
            return refused(RpcError.of(e), id);
        }
    }

    private static ApiResponse refused(RpcError error, @Nullable JsonNode id) {
        return ApiResponse.json(error.status(), error.message(id));
    }

    /** A page in a browser gets nothing unless it is one of the server's own. */
    private void requireOwnOrigin(ApiRequest request) {
        String origin = request.header("Origin");
        if (origin != null && !(origin.equalsIgnoreCase(cookie.origin(request)) && hosts.knows(host(origin)))) {
            throw ApiProblem.of(ErrorCode.CROSS_SITE_REQUEST, "a page of another site sent this request");
        }
    }

    private static @Nullable String host(String origin) {
        try {
            return URI.create(origin.toLowerCase(Locale.ROOT)).getHost();
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static @Nullable JsonNode id(JsonNode message) {
        JsonNode id = message.path("id");
        return id.isString() || id.isIntegralNumber() ? id : null;
    }

    private ApiResponse answer(ApiRequest request, JsonNode message, @Nullable JsonNode id)
            throws IOException, InterruptedException {
        if (!message.isObject() || !message.path("jsonrpc").asString("").equals("2.0")) {
            throw RpcError.malformed(Mcp.INVALID_REQUEST, "the body must be one message of JSON-RPC 2.0");
        }
        if (!message.path("method").isString()) {
            if (message.has("result") || message.has("error")) {
                return ApiResponse.empty(ACCEPTED);
            }
            throw RpcError.malformed(Mcp.INVALID_REQUEST, "the message has no method");
        }
        if (!message.has("id")) {
            return ApiResponse.empty(ACCEPTED);
        }
        if (id == null) {
            throw RpcError.malformed(Mcp.INVALID_REQUEST, "the id must be a string or an integer");
        }
        JsonNode params = message.path("params");
        if (!params.isObject() && !params.isMissingNode()) {
            throw RpcError.malformed(Mcp.INVALID_PARAMS, "params must be an object");
        }
        Incoming incoming = Incoming.of(request, message.get("method").stringValue(),
                params instanceof ObjectNode given ? given : Json.object());
        ObjectNode result = result(incoming);
        if (incoming.modern() && !result.has("resultType")) {
            result.put("resultType", "complete");
        }
        return ApiResponse.json(OK, JsonRpc.result(id, result));
    }

    private ObjectNode result(Incoming incoming) throws IOException, InterruptedException {
        ObjectNode result = switch (incoming.method()) {
            case "tools/list" -> tools.list(incoming);
            case "tools/call" -> tools.call(incoming);
            case "resources/list" -> resources.list(incoming);
            case "resources/templates/list" -> resources.templates(incoming);
            case "resources/read" -> resources.read(incoming);
            case "tasks/get" -> tasks.get(incoming);
            case "tasks/cancel" -> tasks.cancel(incoming);
            default -> incoming.modern() ? modern(incoming) : withHandshake(incoming);
        };
        if (result == null) {
            throw new RpcError(incoming.modern() ? NOT_FOUND : OK, Mcp.METHOD_NOT_FOUND,
                    "no method '" + Excerpt.piece(incoming.method()) + "' in revision " + incoming.version(), null);
        }
        return result;
    }

    private @Nullable ObjectNode modern(Incoming incoming) throws InterruptedException {
        return switch (incoming.method()) {
            case "server/discover" -> discovered();
            case "tasks/update" -> tasks.update(incoming);
            default -> null;
        };
    }

    private @Nullable ObjectNode withHandshake(Incoming incoming) throws InterruptedException {
        return switch (incoming.method()) {
            case "initialize" -> initialized(incoming);
            case "ping" -> Json.object();
            case "tasks/result" -> tasks.result(incoming);
            default -> null;
        };
    }

    private ObjectNode discovered() {
        ObjectNode result = Json.object();
        result.set("supportedVersions", Json.strings(Incoming.VERSIONS));
        capabilities(result).putObject("extensions").putObject(Mcp.TASKS);
        result.put("instructions", INSTRUCTIONS);
        result.putObject("_meta").set(Mcp.META_SERVER, server());
        return Caching.hint(result, Caching.MINUTE);
    }

    private ObjectNode initialized(Incoming incoming) {
        ObjectNode result = Json.object().put("protocolVersion", incoming.version());
        ObjectNode capabilities = capabilities(result);
        if (incoming.version().equals(Mcp.LEGACY)) {
            ObjectNode offered = capabilities.putObject("tasks");
            offered.putObject("cancel");
            offered.putObject("requests").putObject("tools").putObject("call");
        }
        result.set("serverInfo", server());
        return result.put("instructions", INSTRUCTIONS);
    }

    private static ObjectNode capabilities(ObjectNode result) {
        ObjectNode capabilities = result.putObject("capabilities");
        capabilities.putObject("tools");
        capabilities.putObject("resources");
        return capabilities;
    }

    private ObjectNode server() {
        return Json.object().put("name", "keelson").put("title", "Keelson").put("version", serverVersion);
    }
}
