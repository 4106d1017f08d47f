package io.keelson.server.annex.mcp.wire;

import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import java.util.concurrent.CompletableFuture;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The meaning of answers. */
final class Answers {
    private static final int MAX_TEXT = 1_000;

    private Answers() {}

    /** Whether it is a message of the protocol, as opposed to another JSON document such as a line of a log. */
    static boolean isMessage(JsonNode document) {
        return document.path("jsonrpc").asString("").equals("2.0")
                && (document.has("method") || document.has("result") || document.has("error"));
    }

    /** The id of the request of ours that the response answers; -1 for none. */
    static long answered(JsonNode response) {
        JsonNode id = response.path("id");
        return id.isIntegralNumber() && id.canConvertToLong() ? id.longValue() : -1;
    }

    static void settle(JsonNode message, CompletableFuture<JsonNode> answer) {
        try {
            answer.complete(result(message));
        } catch (McpException e) {
            answer.completeExceptionally(e);
        }
    }

    /** The result of a response. */
    static JsonNode result(JsonNode message) throws McpException {
        JsonNode error = message.path("error");
        if (error.isObject()) {
            throw refused(error);
        }
        if (!message.path("result").isObject()) {
            throw McpException.unreadable("the response has neither a result nor an error");
        }
        return message.get("result");
    }

    static McpException refused(JsonNode error) {
        String text = error.path("message").asString("");
        String shown = text.length() <= MAX_TEXT ? text : Excerpt.piece(text);
        return McpException.refused(error.path("code").asInt(0), "the server answered with the error "
                + error.path("code").asInt(0) + ": " + shown);
    }

    /** The answer to a request of a server: a question over an open connection is declined, all else is unknown. */
    static ObjectNode toServer(JsonNode request) {
        JsonNode id = request.get("id");
        return switch (request.path("method").asString("")) {
            case "ping" -> JsonRpc.result(id, Json.object());
            case "elicitation/create" -> JsonRpc.result(id, Json.object().put("action", "decline"));
            default -> JsonRpc.error(id, Mcp.METHOD_NOT_FOUND, "this client has no such method");
        };
    }
}
