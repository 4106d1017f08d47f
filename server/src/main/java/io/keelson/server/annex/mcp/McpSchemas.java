package io.keelson.server.annex.mcp;

import io.keelson.server.base.json.DeclaredSchema;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.SchemaPart;
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
    private JsonNode copy(JsonNode schema, int depth) {
        if (depth > MAX_DEPTH || ++nodes > MAX_NODES) {
            return Json.MAPPER.missingNode();
        }
        String reference = schema.path("$ref").asString("");
        if (reference.startsWith("#/")) {
            return copy(root.at(reference.substring(1)), depth + 1);
        }
        if (!schema.isObject()) {
            return schema;
        }
        ObjectNode object = Json.object();
        schema.forEachEntry((keyword, value) -> {
            if (!keyword.equals("$schema") && !keyword.equals("$defs") && !keyword.equals("definitions")) {
                object.set(keyword, part(SchemaPart.of(keyword, value.isArray()), value, depth + 1));
            }
        });
        return object;
    }

    private JsonNode part(SchemaPart part, JsonNode value, int depth) {
        return switch (part) {
            case DATA -> value;
            case SCHEMA -> copy(value, depth);
            case LIST_OF_SCHEMAS -> {
                ArrayNode array = Json.array();
                value.forEach(each -> array.add(copy(each, depth + 1)));
                yield array;
            }
            case NAMED_SCHEMAS -> {
                ObjectNode object = Json.object();
                value.forEachEntry((name, each) -> object.set(name, copy(each, depth + 1)));
                yield object;
            }
        };
    }
}
