package io.keelson.server.base.expr;

import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/** Reads values by names, indexes and slices. */
final class JqAccess {

    /** First and last position of a slice, within the length. */
    record Range(int from, int to) {}

    private JqAccess() {}

    /** Null where there is nothing. */
    static JsonNode get(JsonNode value, JsonNode key, EvaluationBudget budget) {
        if (value.isObject() && key.isString()) {
            JsonNode found = value.get(key.stringValue());
            return found == null ? NullNode.instance : found;
        }
        if (value.isArray() && key.isNumber()) {
            return item(value, key);
        }
        if (value.isArray() && key.isArray()) {
            return indices(value, key, budget);
        }
        if (key.isObject() && (value.isArray() || value.isString() || value.isNull())) {
            return slice(value, key);
        }
        if (value.isNull() && (key.isString() || key.isNumber() || key.isNull())) {
            return NullNode.instance;
        }
        throw JqError.of("Cannot index " + JqValue.type(value) + " with " + JqValue.shown(key));
    }

    private static JsonNode item(JsonNode array, JsonNode key) {
        double at = Math.floor(JqNumber.value(key));
        double index = at < 0 ? at + array.size() : at;
        return index >= 0 && index < array.size() ? array.get((int) index) : NullNode.instance;
    }

    private static JsonNode slice(JsonNode value, JsonNode key) {
        if (value.isNull()) {
            return value;
        }
        if (value.isString()) {
            Range range = range(key, JqText.length(value.stringValue()));
            return JqValue.text(JqText.slice(value.stringValue(), range.from(), range.to()));
        }
        Range range = range(key, value.size());
        ArrayNode slice = JsonNodeFactory.instance.arrayNode(range.to() - range.from());
        for (int i = range.from(); i < range.to(); i++) {
            slice.add(value.get(i));
        }
        return slice;
    }

    /** @param key {@code {"start": a, "end": b}}, each a number or null */
    static Range range(JsonNode key, int length) {
        JsonNode start = key.path("start");
        JsonNode end = key.path("end");
        boolean known = (start.isNumber() || start.isNull() || start.isMissingNode())
                && (end.isNumber() || end.isNull() || end.isMissingNode());
        if (!known) {
            throw JqError.of("Start and end indices of an array slice must be numbers");
        }
        int from = bound(start, 0, length, false);
        int to = bound(end, length, length, true);
        return new Range(from, Math.max(from, to));
    }

    private static int bound(JsonNode number, int otherwise, int length, boolean up) {
        double value = number.isNumber() ? JqNumber.value(number) : Double.NaN;
        if (Double.isNaN(value)) {
            return otherwise;
        }
        double at = value < 0 ? value + length : value;
        return (int) Math.clamp(up ? Math.ceil(at) : Math.floor(at), 0, length);
    }

    static ObjectNode sliceKey(JsonNode from, JsonNode to) {
        ObjectNode key = JsonNodeFactory.instance.objectNode();
        key.set("start", from);
        key.set("end", to);
        return key;
    }

    /** The positions of a value, a text or a list of values in another. */
    static JsonNode indices(JsonNode value, JsonNode wanted, EvaluationBudget budget) {
        if (value.isNull()) {
            return value;
        }
        if (value.isString() && wanted.isString()) {
            budget.checkWork((long) value.stringValue().length() * wanted.stringValue().length());
            return JqValue.array(JqText.positions(value.stringValue(), wanted.stringValue()));
        }
        if (!value.isArray()) {
            return get(value, wanted, budget);
        }
        List<JsonNode> list = new ArrayList<>();
        (wanted.isArray() ? wanted : JqValue.array(List.of(wanted))).forEach(list::add);
        ArrayNode found = JsonNodeFactory.instance.arrayNode();
        for (int i = 0; !list.isEmpty() && i + list.size() <= value.size(); i++) {
            if (standsAt(value, i, list, budget)) {
                found.add(i);
            }
        }
        return list.isEmpty() ? NullNode.instance : found;
    }

    private static boolean standsAt(JsonNode array, int at, List<JsonNode> list, EvaluationBudget budget) {
        for (int i = 0; i < list.size(); i++) {
            if (!JqValue.equal(array.get(at + i), list.get(i), budget)) {
                return false;
            }
        }
        return true;
    }

    /** The value at the end of a path; null from where there is nothing. */
    static JsonNode get(JsonNode value, List<JsonNode> path, EvaluationBudget budget) {
        JsonNode at = value;
        for (JsonNode key : path) {
            if (at.isNull()) {
                return at;
            }
            at = get(at, key, budget);
        }
        return at;
    }

    static boolean has(JsonNode value, JsonNode key) {
        if (value.isObject() && key.isString()) {
            return value.has(key.stringValue());
        }
        if (value.isArray() && key.isNumber()) {
            double at = Math.floor(JqNumber.value(key));
            return at >= 0 && at < value.size();
        }
        throw JqError.of("Cannot check whether " + JqValue.type(value) + " has a " + JqValue.type(key) + " key");
    }
}
