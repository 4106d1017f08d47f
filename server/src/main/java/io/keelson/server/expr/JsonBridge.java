package io.keelson.server.expr;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BigIntegerNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.DecimalNode;
import com.fasterxml.jackson.databind.node.DoubleNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.keelson.server.json.SafeText;
import java.math.BigDecimal;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Between the server's JSON tree (Jackson 3) and the one jackson-jq works on (Jackson 2). */
final class JsonBridge {

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final com.fasterxml.jackson.databind.node.JsonNodeFactory OLD =
            com.fasterxml.jackson.databind.node.JsonNodeFactory.instance;

    private JsonBridge() {}

    static com.fasterxml.jackson.databind.JsonNode toJq(JsonNode node) {
        return switch (node.getNodeType()) {
            case OBJECT -> {
                ObjectNode object = new ObjectNode(OLD);
                node.properties().forEach(each -> object.set(each.getKey(), toJq(each.getValue())));
                yield object;
            }
            case ARRAY -> {
                ArrayNode array = new ArrayNode(OLD, node.size());
                node.forEach(each -> array.add(toJq(each)));
                yield array;
            }
            case STRING -> TextNode.valueOf(node.stringValue());
            case BOOLEAN -> BooleanNode.valueOf(node.booleanValue());
            case NUMBER -> number(node);
            case NULL, MISSING -> NullNode.instance;
            case BINARY, POJO -> TextNode.valueOf(node.asString());
        };
    }

    private static com.fasterxml.jackson.databind.JsonNode number(JsonNode node) {
        return switch (node.numberType()) {
            case INT -> IntNode.valueOf(node.intValue());
            case LONG -> LongNode.valueOf(node.longValue());
            case BIG_INTEGER -> BigIntegerNode.valueOf(node.bigIntegerValue());
            case FLOAT, DOUBLE -> DoubleNode.valueOf(node.doubleValue());
            case BIG_DECIMAL -> decimal(node.decimalValue());
        };
    }

    /** A double, as jq has them, where it loses no digit: jq writes 2.0 as 2. */
    private static com.fasterxml.jackson.databind.JsonNode decimal(BigDecimal number) {
        double near = number.doubleValue();
        return Double.isFinite(near) && BigDecimal.valueOf(near).compareTo(number) == 0
                ? DoubleNode.valueOf(near)
                : DecimalNode.valueOf(number);
    }

    /** Text is made storable on the way; not-a-number becomes null and infinities the largest number, as jq prints. */
    static JsonNode fromJq(com.fasterxml.jackson.databind.JsonNode node) {
        return switch (node.getNodeType()) {
            case OBJECT -> {
                tools.jackson.databind.node.ObjectNode object = NODES.objectNode();
                node.properties().forEach(each -> object.set(SafeText.clean(each.getKey()), fromJq(each.getValue())));
                yield object;
            }
            case ARRAY -> {
                tools.jackson.databind.node.ArrayNode array = NODES.arrayNode(node.size());
                node.forEach(each -> array.add(fromJq(each)));
                yield array;
            }
            case STRING -> NODES.stringNode(SafeText.clean(node.textValue()));
            case BOOLEAN -> NODES.booleanNode(node.booleanValue());
            case NUMBER -> number(node);
            case NULL, MISSING -> NODES.nullNode();
            case BINARY, POJO -> NODES.stringNode(SafeText.clean(node.asText()));
        };
    }

    private static JsonNode number(com.fasterxml.jackson.databind.JsonNode node) {
        return switch (node.numberType()) {
            case INT -> NODES.numberNode(node.intValue());
            case LONG -> NODES.numberNode(node.longValue());
            case BIG_INTEGER -> NODES.numberNode(node.bigIntegerValue());
            case FLOAT, DOUBLE -> real(node.doubleValue());
            case BIG_DECIMAL -> NODES.numberNode(node.decimalValue());
        };
    }

    private static JsonNode real(double value) {
        if (Double.isNaN(value)) {
            return NODES.nullNode();
        }
        return NODES.numberNode(Math.clamp(value, -Double.MAX_VALUE, Double.MAX_VALUE));
    }
}
