package io.keelson.server.mcp;

import io.keelson.server.json.DeclaredSchema;
import io.keelson.server.json.Json;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Schemas of foreign tools, made safe to check values with. */
final class McpSchemas {
    private static final int MAX_DEPTH = 24;
    private static final int MAX_NODES = 20_000;

    private final JsonNode root;
    private int nodes;

    private McpSchemas(JsonNode root) {
        this.root = root;
    }

    /**
     * The schema with its local references written out and without its dialect's name. An object without rules when it
     * cannot be used, as with references in circles or to other machines: the server then checks its input by itself.
     */
    static JsonNode usable(JsonNode schema) {
        JsonNode free = schema.isObject() ? new McpSchemas(schema).copy(schema, 0) : Json.object();
        return free.isObject() && new DeclaredSchema(free).flaws().isEmpty() ? free
                : Json.object().put("type", "object");
    }

    /** Missing where it is too deep or too large. */
    private JsonNode copy(JsonNode node, int depth) {
        if (depth > MAX_DEPTH || ++nodes > MAX_NODES) {
            return Json.MAPPER.missingNode();
        }
        String reference = node.path("$ref").asString("");
        if (reference.startsWith("#/")) {
            return copy(root.at(reference.substring(1)), depth + 1);
        }
        if (node.isArray()) {
            ArrayNode array = Json.array();
            node.forEach(each -> array.add(copy(each, depth + 1)));
            return array;
        }
        if (!node.isObject()) {
            return node;
        }
        ObjectNode object = Json.object();
        node.forEachEntry((name, value) -> {
            if (!name.equals("$schema") && !name.equals("$defs") && !name.equals("definitions")) {
                object.set(name, copy(value, depth + 1));
            }
        });
        return object;
    }
}
