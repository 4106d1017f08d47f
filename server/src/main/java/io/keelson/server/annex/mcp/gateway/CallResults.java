package io.keelson.server.annex.mcp.gateway;

import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.ProgramCallRecords.End;
import io.keelson.server.engine.tool.ToolSpec;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Results of calls as the protocol has them. */
final class CallResults {

    private CallResults() {}

    /** The result of a call that has ended. */
    static ObjectNode of(End end) {
        JsonNode output = end.output();
        if (!end.state().equals("completed") || output == null) {
            return error(Objects.requireNonNullElse(end.errorCode(), end.state()), end.errorMessage());
        }
        return end.tool().startsWith(ToolSpec.MCP) && output.path("text").isString() ? ofServer(output)
                : result(output.isString() ? output.stringValue() : output.toString(), output);
    }

    /** The result of a call that is not made, or has failed. */
    static ObjectNode error(String code, @Nullable String message) {
        ObjectNode result = Json.object();
        text(result.putArray("content"), message == null ? code : code + ": " + message);
        return result.put("isError", true);
    }

    /** A tool of an MCP server: its text and its structured content as they were. */
    private static ObjectNode ofServer(JsonNode output) {
        ObjectNode result = result(output.get("text").stringValue(), output.path("structured"));
        if (!output.path("content").isEmpty()) {
            text((ArrayNode) result.get("content"), output.get("content").toString());
        }
        return result;
    }

    private static ObjectNode result(String text, JsonNode structured) {
        ObjectNode result = Json.object();
        text(result.putArray("content"), text);
        if (structured.isObject()) {
            result.set("structuredContent", structured);
        }
        return result;
    }

    private static void text(ArrayNode content, String text) {
        content.addObject().put("type", "text").put("text", text);
    }
}
