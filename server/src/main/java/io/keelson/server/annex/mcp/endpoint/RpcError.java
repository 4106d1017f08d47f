package io.keelson.server.annex.mcp.endpoint;

import io.keelson.server.annex.mcp.wire.JsonRpc;
import io.keelson.server.annex.mcp.wire.Mcp;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.base.json.Json;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A request of the protocol that is refused: an error of JSON-RPC under a status of HTTP. */
final class RpcError extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final int BAD_REQUEST = 400;
    private static final int OK = 200;
    private static final int SERVER_ERROR = 500;

    private final int status;
    private final int code;
    private final transient @Nullable JsonNode data;

    RpcError(int status, int code, String message, @Nullable JsonNode data) {
        super(message, null, false, false);
        this.status = status;
        this.code = code;
        this.data = data;
    }

    /** A message that no server of this revision takes. */
    static RpcError malformed(int code, String message) {
        return new RpcError(BAD_REQUEST, code, message, null);
    }

    /** Parameters that the method does not take. */
    static RpcError invalid(String message) {
        return new RpcError(OK, Mcp.INVALID_PARAMS, message, null);
    }

    /** A revision that is not spoken. */
    static RpcError version(String requested) {
        ObjectNode data = Json.object().put("requested", requested);
        data.set("supported", Json.strings(Incoming.VERSIONS));
        return new RpcError(BAD_REQUEST, Mcp.VERSION_UNSUPPORTED, "unsupported protocol version", data);
    }

    /** A request that only clients may send that declare the extension of tasks. */
    static RpcError tasksNotDeclared() {
        ObjectNode data = Json.object();
        data.putObject("requiredCapabilities").putObject("extensions").putObject(Mcp.TASKS);
        return new RpcError(BAD_REQUEST, Mcp.CAPABILITY_MISSING, "the client does not declare the capability "
                + Mcp.TASKS, data);
    }

    /**
     * The error of a problem of the HTTP API, whose document is the error's data; a failure of the server stays one.
     */
    static RpcError of(ApiProblem problem) {
        ObjectNode document = problem.document();
        int status = document.path("status").asInt(SERVER_ERROR);
        if (status >= SERVER_ERROR || problem.code().equals(ErrorCode.REQUEST_LIMIT_REACHED.name())) {
            throw problem;
        }
        boolean scope = problem.code().equals(ErrorCode.SCOPE_MISSING.name());
        return new RpcError(scope ? status : OK, scope ? Mcp.INVALID_REQUEST : Mcp.INVALID_PARAMS,
                document.path("detail").asString(""), document);
    }

    int status() {
        return status;
    }

    /** @param id of the request; null where it is not known */
    ObjectNode message(@Nullable JsonNode id) {
        ObjectNode message = JsonRpc.error(id, code, String.valueOf(getMessage()));
        if (data != null) {
            ((ObjectNode) message.get("error")).set("data", data);
        }
        return message;
    }
}
