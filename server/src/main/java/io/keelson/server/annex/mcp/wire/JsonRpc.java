package io.keelson.server.annex.mcp.wire;

import io.keelson.server.base.json.Json;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Messages of JSON-RPC 2.0. */
public final class JsonRpc {

    private JsonRpc() {}

    public static ObjectNode request(long id, String method, ObjectNode params) {
        ObjectNode message = notification(method, params);
        return message.put("id", id);
    }

    public static ObjectNode notification(String method, ObjectNode params) {
        ObjectNode message = message().put("method", method);
        message.set("params", params);
        return message;
    }

    public static ObjectNode result(JsonNode id, JsonNode result) {
        ObjectNode message = message();
        message.set("id", id);
        message.set("result", result);
        return message;
    }

    /** @param id of the request; null where it could not be read */
    public static ObjectNode error(@Nullable JsonNode id, int code, String text) {
        ObjectNode message = message();
        if (id != null) {
            message.set("id", id);
        }
        message.putObject("error").put("code", code).put("message", text);
        return message;
    }

    /** The id of a message that is too large for a tree; -1 when it is no number, or not found. */
    static long id(byte[] message) {
        try (JsonParser parser = Json.MAPPER.createParser(message)) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token == JsonToken.PROPERTY_NAME) {
                    boolean id = parser.currentName().equals("id");
                    if (parser.nextToken() == JsonToken.VALUE_NUMBER_INT && id) {
                        return parser.getLongValue();
                    }
                    parser.skipChildren();
                }
            }
            return -1;
        } catch (JacksonException e) {
            return -1;
        }
    }

    private static ObjectNode message() {
        return Json.object().put("jsonrpc", "2.0");
    }
}
