package io.keelson.server.base.expr;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/** jq's types, truth, order and equality of JSON values. */
final class JqValue {

    static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private JqValue() {}

    static String type(JsonNode value) {
        return switch (value.getNodeType()) {
            case NULL, MISSING -> "null";
            case BOOLEAN -> "boolean";
            case NUMBER -> "number";
            case ARRAY -> "array";
            case OBJECT -> "object";
            case STRING, BINARY, POJO -> "string";
        };
    }

    static boolean isTrue(JsonNode value) {
        return !value.isNull() && !(value.isBoolean() && !value.booleanValue());
    }

    static JsonNode bool(boolean value) {
        return BooleanNode.valueOf(value);
    }

    static JsonNode text(String value) {
        return StringNode.valueOf(value);
    }

    static ArrayNode array(List<? extends JsonNode> items) {
        ArrayNode array = NODES.arrayNode(items.size());
        items.forEach(array::add);
        return array;
    }

    /** {@code type (value)}, as in messages. */
    static String shown(JsonNode value) {
        return type(value) + " (" + JqText.shown(value) + ")";
    }

    private static int rank(JsonNode value) {
        return switch (value.getNodeType()) {
            case NULL, MISSING -> 0;
            case BOOLEAN -> value.booleanValue() ? 2 : 1;
            case NUMBER -> 3;
            case STRING, BINARY, POJO -> 4;
            case ARRAY -> 5;
            case OBJECT -> 6;
        };
    }

    /** jq's order of all values; not-a-number is equal to itself here and below every number. */
    static int compare(JsonNode a, JsonNode b, EvaluationBudget budget) {
        budget.step();
        int rank = rank(a);
        int difference = Integer.compare(rank, rank(b));
        if (difference != 0 || a == b) {
            return difference;
        }
        return switch (rank) {
            case 3 -> JqNumber.compare(a, b);
            case 4 -> compare(a.stringValue(), b.stringValue());
            case 5 -> compareArrays(a, b, budget);
            case 6 -> compareObjects(a, b, budget);
            default -> 0;
        };
    }

    /** Whether {@code a == b}: not-a-number equals nothing. */
    static boolean equal(JsonNode a, JsonNode b, EvaluationBudget budget) {
        return !JqNumber.isNan(a) && compare(a, b, budget) == 0;
    }

    /** By code points: {@link String#compareTo} has characters above U+FFFF before U+E000. */
    static int compare(String a, String b) {
        int common = Math.min(a.length(), b.length());
        for (int i = 0; i < common; i++) {
            char left = a.charAt(i);
            char right = b.charAt(i);
            if (left != right) {
                boolean leftHigh = Character.isSurrogate(left);
                return leftHigh == Character.isSurrogate(right) ? left - right : leftHigh ? 1 : -1;
            }
        }
        return a.length() - b.length();
    }

    private static int compareArrays(JsonNode a, JsonNode b, EvaluationBudget budget) {
        Iterator<JsonNode> others = b.iterator();
        for (JsonNode each : a) {
            int difference = others.hasNext() ? compare(each, others.next(), budget) : 1;
            if (difference != 0) {
                return difference;
            }
        }
        return others.hasNext() ? -1 : 0;
    }

    private static int compareObjects(JsonNode a, JsonNode b, EvaluationBudget budget) {
        List<String> names = names(a);
        List<String> others = names(b);
        for (int i = 0; i < Math.min(names.size(), others.size()); i++) {
            int difference = compare(names.get(i), others.get(i));
            if (difference != 0) {
                return difference;
            }
        }
        if (names.size() != others.size()) {
            return names.size() - others.size();
        }
        for (String name : names) {
            int difference = compare(a.get(name), b.get(name), budget);
            if (difference != 0) {
                return difference;
            }
        }
        return 0;
    }

    /** The names of an object in jq's order. */
    static List<String> names(JsonNode object) {
        List<String> names = new ArrayList<>(object.propertyNames());
        names.sort(JqValue::compare);
        return names;
    }

    static ObjectNode copy(JsonNode object) {
        ObjectNode copy = NODES.objectNode();
        object.properties().forEach(each -> copy.set(each.getKey(), each.getValue()));
        return copy;
    }

    /** Whether a has all that b has, as {@code contains} says it. */
    static boolean contains(JsonNode a, JsonNode b, EvaluationBudget budget) {
        budget.step();
        if (a.isObject() && b.isObject()) {
            return b.properties().stream().allMatch(each -> {
                JsonNode mine = a.get(each.getKey());
                return mine != null && contains(mine, each.getValue(), budget);
            });
        }
        if (a.isArray() && b.isArray()) {
            for (JsonNode wanted : b) {
                if (a.valueStream().noneMatch(each -> type(each).equals(type(wanted))
                        && contains(each, wanted, budget))) {
                    return false;
                }
            }
            return true;
        }
        if (a.isString() && b.isString()) {
            budget.checkWork((long) a.stringValue().length() * b.stringValue().length());
            return a.stringValue().contains(b.stringValue());
        }
        if (type(a).equals(type(b))) {
            return equal(a, b, budget);
        }
        throw JqError.of(shown(a) + " and " + shown(b) + " cannot have their containment checked");
    }
}
