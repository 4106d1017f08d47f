package io.keelson.server.api.http.inbox;

import io.keelson.server.base.json.Json;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/** A tool of an MCP server before and after a change. All texts are the other server's: data, not instructions. */
final class ToolChange {
    private static final int MAX_DIFFERENCES = 100;

    private ToolChange() {}

    /**
     * The item's data: {@code server}, {@code tool}, {@code differences} with the JSON pointers and values of what differs, and
     * both descriptions as a whole.
     */
    static ObjectNode shown(JsonNode changed) {
        ObjectNode data = Json.object().put("server", changed.path("server").asString(""))
                .put("tool", changed.path("tool").asString(""));
        differences(data.putArray("differences"), "", changed.path("accepted"), changed.path("seen"));
        data.set("accepted", changed.path("accepted"));
        data.set("seen", changed.path("seen"));
        return data;
    }

    static String question(JsonNode changed) {
        return "The MCP server '" + changed.path("server").asString("") + "' describes its tool '"
                + changed.path("tool").asString("") + "' otherwise than it was accepted. Use it as it is now?";
    }

    private static void differences(ArrayNode into, String pointer, JsonNode accepted, JsonNode seen) {
        if (accepted.equals(seen) || into.size() >= MAX_DIFFERENCES) {
            return;
        }
        if (accepted.isObject() && seen.isObject()) {
            TreeSet<String> names = new TreeSet<>(accepted.propertyNames());
            names.addAll(seen.propertyNames());
            names.forEach(name -> differences(into, pointer + "/" + name.replace("~", "~0").replace("/", "~1"),
                    accepted.path(name), seen.path(name)));
            return;
        }
        ObjectNode difference = into.addObject().put("pointer", pointer);
        difference.set("accepted", accepted.isMissingNode() ? NullNode.getInstance() : accepted);
        difference.set("seen", seen.isMissingNode() ? NullNode.getInstance() : seen);
    }
}
