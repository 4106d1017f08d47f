package io.keelson.devmodel;

import com.networknt.schema.Error;
import com.networknt.schema.SchemaException;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.dialect.Dialects;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.DecimalNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The smallest value that fits a JSON Schema. */
final class SchemaInstance {

    private static final int MAX_DEPTH = 40;
    private static final int MAX_LENGTH = 10_000;

    private final JsonNode root;

    private SchemaInstance(JsonNode root) {
        this.root = root;
    }

    /**
     * @param schema without references to other documents; missing for any object
     * @throws BadRequestException if the schema is invalid, or the generated value does not fit: patterns are not read
     */
    static JsonNode of(JsonNode schema) throws BadRequestException {
        if (schema.isMissingNode()) {
            return Json.object();
        }
        try {
            JsonNode value = new SchemaInstance(schema).value(schema, 0);
            List<Error> errors =
                    SchemaRegistry.withDefaultDialect(Dialects.getDraft202012()).getSchema(schema).validate(value);
            if (errors.isEmpty()) {
                return value;
            }
            throw new BadRequestException("dev-model cannot make up a value that fits the schema: "
                    + errors.getFirst() + "; state one in a rule of the script (json)");
        } catch (SchemaException e) {
            throw new BadRequestException("the schema cannot be used: " + e.getMessage());
        }
    }

    private JsonNode value(JsonNode schema, int depth) throws BadRequestException {
        if (depth > MAX_DEPTH) {
            throw new BadRequestException("the schema is nested too deeply, or requires itself");
        }
        if (schema.has("$ref")) {
            String place = schema.get("$ref").asString();
            return value(place.startsWith("#") ? root.at(place.substring(1)) : Json.object(), depth + 1);
        }
        for (String given : List.of("const", "default")) {
            if (schema.has(given)) {
                return schema.get(given).deepCopy();
            }
        }
        if (!schema.path("enum").isEmpty()) {
            return schema.get("enum").get(0).deepCopy();
        }
        for (String choice : List.of("anyOf", "oneOf")) {
            if (!schema.path(choice).isEmpty()) {
                return merged(schema, value(schema.get(choice).get(0), depth + 1), depth);
            }
        }
        return switch (type(schema)) {
            case "object" -> merged(schema, Json.object(), depth);
            case "array" -> items(schema, depth);
            case "integer", "number" -> number(schema);
            case "boolean" -> JsonNodeFactory.instance.booleanNode(false);
            case "null" -> JsonNodeFactory.instance.nullNode();
            default -> Json.string(text(schema));
        };
    }

    /** The first type that is not null. */
    private static String type(JsonNode schema) {
        JsonNode type = schema.path("type");
        if (type.isArray()) {
            return type.valueStream().map(JsonNode::asString).filter(each -> !each.equals("null")).findFirst()
                    .orElse("null");
        }
        return type.asString(schema.has("properties") || schema.has("allOf") ? "object"
                : schema.has("items") ? "array" : "string");
    }

    /** The value with the members that the schema and its {@code allOf} require. */
    private JsonNode merged(JsonNode schema, JsonNode value, int depth) throws BadRequestException {
        if (!(value instanceof ObjectNode object)) {
            return value;
        }
        for (JsonNode part : schema.path("allOf")) {
            if (value(part, depth + 1) instanceof ObjectNode more) {
                more.properties().forEach(each -> object.set(each.getKey(), each.getValue()));
            }
        }
        for (JsonNode name : schema.path("required")) {
            if (!object.has(name.asString())) {
                object.set(name.asString(), value(schema.path("properties").path(name.asString()), depth + 1));
            }
        }
        return object;
    }

    private ArrayNode items(JsonNode schema, int depth) throws BadRequestException {
        ArrayNode items = Json.array();
        for (JsonNode each : schema.path("prefixItems")) {
            items.add(value(each, depth + 1));
        }
        while (items.size() < Math.min(schema.path("minItems").asInt(0), MAX_LENGTH)) {
            items.add(value(schema.path("items"), depth + 1));
        }
        return items;
    }

    private static JsonNode number(JsonNode schema) {
        BigDecimal step = schema.path("multipleOf").asDecimal(BigDecimal.ONE);
        BigDecimal value = BigDecimal.ZERO;
        if (schema.has("minimum") || schema.has("exclusiveMinimum")) {
            BigDecimal least = schema.path("minimum").asDecimal(schema.path("exclusiveMinimum").asDecimal(value));
            value = least.divide(step, 0, RoundingMode.CEILING).multiply(step);
            if (value.compareTo(schema.path("exclusiveMinimum").asDecimal(value.subtract(step))) <= 0) {
                value = value.add(step);
            }
        }
        BigDecimal most = schema.path("maximum").asDecimal(value);
        return DecimalNode.valueOf(value.min(most));
    }

    private static String text(JsonNode schema) {
        String text = switch (schema.path("format").asString("")) {
            case "date-time" -> "2026-01-01T00:00:00Z";
            case "date" -> "2026-01-01";
            case "time" -> "00:00:00Z";
            case "email" -> "dev-model@example.org";
            case "uri" -> "https://example.org/";
            case "uuid" -> "00000000-0000-4000-8000-000000000000";
            default -> "dev-model";
        };
        String longer = text + "-".repeat(Math.clamp(schema.path("minLength").asInt(0) - text.length(), 0, MAX_LENGTH));
        return longer.substring(0, Math.min(longer.length(), schema.path("maxLength").asInt(longer.length())));
    }
}
