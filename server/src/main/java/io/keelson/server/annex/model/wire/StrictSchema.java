package io.keelson.server.annex.model.wire;

import io.keelson.server.base.json.Json;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * JSON Schemas in the part of the language that providers enforce: closed objects whose members are all required. Bounds and
 * patterns are left out, so a value of the result need not fit the schema; the caller validates it.
 */
final class StrictSchema {

    private static final Set<String> LEFT_OUT = Set.of("$schema", "$id", "$comment", "title", "default", "examples",
            "format", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
            "multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "deprecated",
            "readOnly",
            "writeOnly");
    private static final Set<String> KEPT = Set.of("type", "properties", "required", "additionalProperties", "items",
            "enum", "const", "anyOf", "description");
    private static final Set<String> TYPES =
            Set.of("object", "array", "string", "number", "integer", "boolean", "null");

    private StrictSchema() {}

    /** The schema in that language; null where it has no such form, as with optional members. */
    static @Nullable JsonNode of(JsonNode schema) {
        return schema.path("type").asString("").equals("object") && !schema.has("anyOf") ? lowered(schema) : null;
    }

    private static @Nullable JsonNode lowered(JsonNode schema) {
        if (!schema.isObject() || schema.isEmpty()) {
            return null;
        }
        ObjectNode strict = Json.object();
        for (var member : schema.properties()) {
            String name = member.getKey();
            JsonNode value = member.getValue();
            if (LEFT_OUT.contains(name)) {
                continue;
            }
            JsonNode part = !KEPT.contains(name) ? null : switch (name) {
                case "properties" -> members(value);
                case "items" -> lowered(value);
                case "anyOf" -> alternatives(value);
                default -> value;
            };
            if (part == null) {
                return null;
            }
            strict.set(name, part);
        }
        return closed(strict) ? strict : null;
    }

    /** Whether it says enough to be enforced; closes an object. */
    private static boolean closed(ObjectNode schema) {
        if (!schema.has("type")) {
            return schema.has("enum") || schema.has("const") || schema.has("anyOf");
        }
        Set<String> types = new HashSet<>();
        JsonNode type = schema.get("type");
        (type.isArray() ? type.valueStream() : Stream.of(type))
                .forEach(each -> types.add(each.asString("")));
        if (!TYPES.containsAll(types) || types.contains("array") && !schema.has("items")) {
            return false;
        }
        if (!types.contains("object")) {
            return true;
        }
        Set<String> required = new HashSet<>();
        schema.path("required").forEach(each -> required.add(each.asString("")));
        Set<String> properties = Set.copyOf(schema.path("properties").propertyNames());
        JsonNode open = schema.path("additionalProperties");
        boolean closes = open.isMissingNode() || open.isBoolean() && !open.booleanValue();
        schema.put("additionalProperties", false);
        return closes && !properties.isEmpty() && required.equals(properties);
    }

    private static @Nullable JsonNode members(JsonNode properties) {
        ObjectNode strict = Json.object();
        for (var property : properties.properties()) {
            JsonNode part = lowered(property.getValue());
            if (part == null) {
                return null;
            }
            strict.set(property.getKey(), part);
        }
        return strict;
    }

    private static @Nullable JsonNode alternatives(JsonNode schemas) {
        ArrayNode strict = Json.array();
        for (JsonNode schema : schemas) {
            JsonNode part = lowered(schema);
            if (part == null) {
                return null;
            }
            strict.add(part);
        }
        return strict;
    }
}
