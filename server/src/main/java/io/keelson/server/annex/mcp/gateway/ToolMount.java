package io.keelson.server.annex.mcp.gateway;

import io.keelson.server.annex.mcp.wire.JsonRpc;
import io.keelson.server.annex.mcp.wire.Mcp;
import io.keelson.server.api.http.gateway.GatewayError;
import io.keelson.server.api.http.gateway.StepTokens;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.Mount;
import io.keelson.server.api.http.support.MountedRequest;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import io.keelson.server.base.json.SafeText;
import io.keelson.server.engine.store.queue.GatewayTokens.Found;
import io.keelson.server.mission.plan.NameSuggestion;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code POST /gateway/mcp}: one message of the protocol, answered with one JSON document. Without sessions and streams. */
final class ToolMount implements Mount {
    private static final String PATH = "/gateway/mcp";
    /** The newest first. */
    private static final List<String> VERSIONS = List.of(Mcp.LEGACY, "2025-06-18");
    private static final String REPLAYED = "x-keelson-replayed";
    private static final int OK = 200;
    private static final int ACCEPTED = 202;
    private static final int BAD_REQUEST = 400;
    private static final int NOT_ALLOWED = 405;

    private final StepTokens tokens;
    private final ProgramTools tools;
    private final ToolCalls calls;
    private final String serverVersion;

    /** @param serverVersion shown to clients */
    ToolMount(StepTokens tokens, ProgramTools tools, ToolCalls calls, String serverVersion) {
        this.tokens = tokens;
        this.tools = tools;
        this.calls = calls;
        this.serverVersion = serverVersion;
    }

    @Override
    public String path() {
        return PATH;
    }

    @Override
    public ApiResponse answer(MountedRequest request) throws IOException, InterruptedException {
        JsonNode id = null;
        try {
            if (!request.path().isEmpty()) {
                throw GatewayError.notFound();
            }
            if (!request.method().equals("POST")) {
                return respond(new GatewayError(NOT_ALLOWED, "method_not_allowed",
                        "messages are sent by POST; there are no streams and no sessions"), null)
                        .header("Allow", "POST");
            }
            Found caller = tokens.of(request);
            request.body().requireType("application/json");
            JsonNode message = message(request.body().bytes());
            id = id(message);
            return answer(caller, request, message, id);
        } catch (GatewayError e) {
            return respond(e, id);
        }
    }

    @Override
    public ApiResponse refusal(MountedRequest request, ApiProblem problem) {
        return respond(GatewayError.of(problem), null);
    }

    private static ApiResponse respond(GatewayError refusal, @Nullable JsonNode id) {
        int rpcCode = refusal instanceof CallRefusedException call ? call.rpcCode() : Mcp.INVALID_REQUEST;
        ObjectNode document = JsonRpc.error(id, rpcCode, refusal.message());
        document.withObjectProperty("error").putObject("data").put("code", refusal.code());
        return ApiResponse.json(refusal.status(), document);
    }

    private static JsonNode message(byte[] body) throws CallRefusedException {
        JsonNode message;
        try {
            message = OutsideJson.readStrict(body);
        } catch (JacksonException e) {
            throw malformed(Mcp.PARSE_ERROR, "the body is not JSON");
        }
        if (!message.isObject() || !message.path("jsonrpc").asString("").equals("2.0")) {
            throw malformed(Mcp.INVALID_REQUEST, "the body must be one message of JSON-RPC 2.0");
        }
        if (!SafeText.clean(message).equals(message)) {
            throw malformed(Mcp.INVALID_REQUEST, "the message has a NUL character, half of a surrogate pair or a number"
                    + " that cannot be stored");
        }
        return message;
    }

    private static CallRefusedException malformed(int rpcCode, String text) {
        return new CallRefusedException(BAD_REQUEST, rpcCode, "invalid_request", text);
    }

    private static @Nullable JsonNode id(JsonNode message) {
        JsonNode id = message.path("id");
        return id.isString() || id.isIntegralNumber() ? id : null;
    }

    private ApiResponse answer(Found caller, MountedRequest request, JsonNode message, @Nullable JsonNode id)
            throws CallRefusedException, InterruptedException {
        if (!message.path("method").isString() || !message.has("id")) {
            if (message.has("method") || message.has("result") || message.has("error")) {
                return ApiResponse.empty(ACCEPTED);
            }
            throw malformed(Mcp.INVALID_REQUEST, "the message has no method");
        }
        if (id == null) {
            throw malformed(Mcp.INVALID_REQUEST, "the id must be a string or an integer");
        }
        JsonNode params = message.path("params");
        String method = message.get("method").stringValue();
        return switch (method) {
            case "initialize" -> result(id, initialization(params.path("protocolVersion").asString("")));
            case "ping" -> result(id, Json.object());
            case "tools/list" -> result(id, list(caller));
            case "tools/call" -> call(caller, request, params, id);
            default -> throw new CallRefusedException(OK, Mcp.METHOD_NOT_FOUND, "not_found",
                    "no method '" + Excerpt.piece(method) + "'");
        };
    }

    private static ApiResponse result(JsonNode id, ObjectNode result) {
        return ApiResponse.json(OK, JsonRpc.result(id, result));
    }

    private ObjectNode initialization(String wanted) {
        ObjectNode result =
                Json.object().put("protocolVersion", VERSIONS.contains(wanted) ? wanted : VERSIONS.getFirst());
        result.putObject("capabilities").putObject("tools");
        result.putObject("serverInfo").put("name", "keelson-gateway").put("title", "Tools of a Keelson step")
                .put("version", serverVersion);
        return result;
    }

    private ObjectNode list(Found caller) {
        ObjectNode result = Json.object();
        ArrayNode listed = result.putArray("tools");
        tools.of(caller).values().forEach(tool -> listed.add(tool.document()));
        return result;
    }

    private ApiResponse call(Found caller, MountedRequest request, JsonNode params, JsonNode id)
            throws CallRefusedException, InterruptedException {
        String name = params.path("name").asString("");
        JsonNode given = params.path("arguments");
        if (name.isEmpty() || !given.isObject() && !given.isMissingNode() && !given.isNull()) {
            throw new CallRefusedException(OK, Mcp.INVALID_PARAMS, "invalid_request",
                    "params.name must be a tool, and params.arguments an object");
        }
        ProgramTools.Offered tool = tools.find(caller, name);
        if (tool == null) {
            throw new CallRefusedException(OK, Mcp.INVALID_PARAMS, "tool_not_allowed",
                    "the step may not call the tool '"
                            + Excerpt.piece(name) + "'" + NameSuggestion.hint(name, tools.of(caller).keySet())
                            + "; tools/list has the tools that it may call");
        }
        ObjectNode arguments = given instanceof ObjectNode object ? object : Json.object();
        String problems = tool.problems(arguments);
        if (!problems.isEmpty()) {
            return result(id, CallResults.error("TOOL_INPUT_INVALID", problems));
        }
        request.body().release();
        ToolCalls.Answer answer = calls.call(caller.lease(), tool, arguments, request);
        if (answer == null) {
            return ApiResponse.empty(ACCEPTED);
        }
        ApiResponse response = result(id, answer.result());
        return answer.replayed()
                ? new ApiResponse(OK, response.content(), Map.of(REPLAYED, "true"), false, "")
                : response;
    }
}
