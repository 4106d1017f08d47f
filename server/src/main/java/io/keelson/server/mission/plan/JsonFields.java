package io.keelson.server.mission.plan;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Members of a tree that may be anything: a value of another type counts as absent, because the schema check has
 * already reported it.
 */
final class JsonFields {
    private static final double MILLIS = 1_000;

    private JsonFields() {}

    static @Nullable String text(JsonNode node, String key) {
        JsonNode value = node.path(key);
        return value.isString() ? value.stringValue() : null;
    }

    static String text(JsonNode node, String key, String otherwise) {
        String text = text(node, key);
        return text == null ? otherwise : text;
    }

    static int integer(JsonNode node, String key, int otherwise) {
        return node.path(key).asInt(otherwise);
    }

    static double number(JsonNode node, String key, double otherwise) {
        return node.path(key).asDouble(otherwise);
    }

    /** To the millisecond, at least one. */
    static Duration seconds(JsonNode node, String key, Duration otherwise) {
        JsonNode value = node.path(key);
        return value.isNumber() ? Duration.ofMillis(Math.max(1, Math.round(value.asDouble(0) * MILLIS))) : otherwise;
    }

    /** A duration, which may be zero. */
    static Duration delay(JsonNode node, String key, Duration otherwise) {
        return number(node, key, -1) == 0 ? Duration.ZERO : seconds(node, key, otherwise);
    }

    /** The enum value whose name in lower case is the member's text. */
    static <E extends Enum<E>> E word(JsonNode node, String key, E[] values, E otherwise) {
        String word = text(node, key, "");
        for (E each : values) {
            if (each.name().toLowerCase(Locale.ROOT).equals(word)) {
                return each;
            }
        }
        return otherwise;
    }

    /** The member's value as JSON text; null if absent. */
    static @Nullable String json(JsonNode node, String key) {
        return node.has(key) ? node.path(key).toString() : null;
    }

    static ObjectNode object(JsonNode node, String key) {
        return node.path(key) instanceof ObjectNode object ? object : JsonNodeFactory.instance.objectNode();
    }

    /** The texts of an array; none for anything else. */
    static List<String> texts(JsonNode array) {
        return array.isArray() ? array.valueStream().filter(JsonNode::isString).map(JsonNode::stringValue).toList()
                : List.of();
    }
}
