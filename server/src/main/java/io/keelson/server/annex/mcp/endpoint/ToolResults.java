package io.keelson.server.annex.mcp.endpoint;

import io.keelson.server.base.json.Json;
import tools.jackson.databind.node.ObjectNode;

/** Results of tools: structured, and as text for clients that know no structure. */
final class ToolResults {

    private ToolResults() {}

    static ObjectNode structured(ObjectNode json) {
        ObjectNode result = text(json);
        result.set("structuredContent", json);
        return result;
    }

    /** A refusal, as the tool's answer: a model reads its code and what to change. */
    static ObjectNode error(ObjectNode problem) {
        return text(problem).put("isError", true);
    }

    private static ObjectNode text(ObjectNode json) {
        ObjectNode result = Json.object();
        result.putArray("content").addObject().put("type", "text").put("text", json.toString());
        return result;
    }
}
