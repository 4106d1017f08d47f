package io.keelson.server.base.expr;

import io.keelson.server.base.json.NumberText;
import io.keelson.server.base.json.SafeText;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Makes values of programs storable. */
final class JqResult {

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private JqResult() {}

    /**
     * The value with storable text and with numbers that have no exponent of Java; not-a-number becomes null, and infinite
     * numbers become the largest one, as jq prints them.
     */
    static JsonNode of(JsonNode value) {
        return switch (value.getNodeType()) {
            case OBJECT -> {
                ObjectNode object = NODES.objectNode();
                for (Map.Entry<String, JsonNode> each : value.properties()) {
                    object.set(SafeText.clean(each.getKey()), of(each.getValue()));
                }
                yield object;
            }
            case ARRAY -> {
                ArrayNode array = NODES.arrayNode(value.size());
                value.forEach(each -> array.add(of(each)));
                yield array;
            }
            case STRING, BINARY, POJO -> NODES.stringNode(SafeText.clean(value.asString()));
            case BOOLEAN -> value;
            case NULL, MISSING -> NODES.nullNode();
            case NUMBER -> number(value);
        };
    }

    private static JsonNode number(JsonNode value) {
        if (!value.isDouble() && !value.isFloat()) {
            return value;
        }
        return Double.isNaN(value.doubleValue()) ? NODES.nullNode() : NumberText.plain(value.doubleValue());
    }
}
