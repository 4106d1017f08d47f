package io.keelson.server.base.expr;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Changes of one value at many paths. It copies each container on the way once and changes that copy; a value that was
 * read since is copied again.
 */
final class JqUpdate {

    /** An assignment to a higher index would fill an array with that many nulls. */
    static final int MAX_INDEX = 1_000_000;
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private final Set<JsonNode> mine = Collections.newSetFromMap(new IdentityHashMap<>());
    private final EvaluationBudget budget;
    private JsonNode value;

    JqUpdate(JsonNode value, EvaluationBudget budget) {
        this.value = value;
        this.budget = budget;
    }

    /** The changed value, which must not be changed further. */
    JsonNode value() {
        budget.produced(value);
        return value;
    }

    JsonNode get(List<JsonNode> path) {
        JsonNode found = JqAccess.get(value, path, budget);
        if (mine.contains(found)) {
            mine.clear();
        }
        return found;
    }

    void set(List<JsonNode> path, JsonNode to) {
        budget.checkNesting(path.size());
        value = set(value, path, 0, to);
    }

    private JsonNode set(JsonNode at, List<JsonNode> path, int from, JsonNode to) {
        if (from == path.size()) {
            return to;
        }
        JsonNode key = path.get(from);
        checkIndex(key);
        return put(at, key, set(JqAccess.get(at, key, budget), path, from + 1, to));
    }

    private static void checkIndex(JsonNode key) {
        if (key.isNumber() && JqNumber.value(key) > MAX_INDEX) {
            throw new ExpressionException("EXPRESSION_OUTPUT_TOO_LARGE", "an array index is above " + MAX_INDEX);
        }
    }

    private JsonNode put(JsonNode at, JsonNode key, JsonNode item) {
        if (key.isString() && (at.isNull() || at.isObject())) {
            ObjectNode object = own(at.isNull() ? NODES.objectNode() : (ObjectNode) at);
            object.set(key.stringValue(), item);
            return object;
        }
        if (key.isNumber() && (at.isNull() || at.isArray())) {
            return putItem(own(at.isNull() ? NODES.arrayNode() : (ArrayNode) at), key, item);
        }
        if (key.isObject() && (at.isNull() || at.isArray())) {
            return putSlice(at.isNull() ? NODES.arrayNode() : (ArrayNode) at, key, item);
        }
        throw JqError.of(key.isObject() && at.isString() ? "Cannot update string slices"
                : key.isContainer() ? "Cannot update field at " + JqValue.type(key) + " index of " + JqValue.type(at)
                        : "Cannot index " + JqValue.type(at) + " with " + JqValue.shown(key));
    }

    private static ArrayNode putItem(ArrayNode array, JsonNode key, JsonNode item) {
        if (JqNumber.isNan(key)) {
            throw JqError.of("Cannot set array element at NaN index");
        }
        double at = Math.floor(JqNumber.value(key));
        int index = (int) (at < 0 ? at + array.size() : at);
        if (index < 0) {
            throw JqError.of("Out of bounds negative array index");
        }
        while (array.size() <= index) {
            array.addNull();
        }
        array.set(index, item);
        return array;
    }

    private ArrayNode putSlice(ArrayNode array, JsonNode key, JsonNode items) {
        if (!items.isArray()) {
            throw JqError.of("A slice of an array can only be assigned another array");
        }
        JqAccess.Range range = JqAccess.range(key, array.size());
        budget.work(array.size());
        List<JsonNode> all = new ArrayList<>();
        array.forEach(all::add);
        List<JsonNode> cut = all.subList(range.from(), range.to());
        cut.clear();
        items.forEach(cut::add);
        ArrayNode changed = JqValue.array(all);
        mine.add(changed);
        return changed;
    }

    private ArrayNode own(ArrayNode array) {
        if (mine.contains(array)) {
            return array;
        }
        budget.work(array.size());
        ArrayNode copy = NODES.arrayNode(array.size());
        array.forEach(copy::add);
        mine.add(copy);
        return copy;
    }

    private ObjectNode own(ObjectNode object) {
        if (mine.contains(object)) {
            return object;
        }
        budget.work(object.size());
        ObjectNode copy = JqValue.copy(object);
        mine.add(copy);
        return copy;
    }

    /** Deletes the values at the paths, which all refer to the value before the deletion. */
    void delete(List<List<JsonNode>> paths) {
        List<List<JsonNode>> sorted = new ArrayList<>(paths);
        sorted.sort((a, b) -> JqValue.compare(JqValue.array(a), JqValue.array(b), budget));
        sorted.forEach(path -> budget.checkNesting(path.size()));
        value = !sorted.isEmpty() && sorted.getFirst().isEmpty() ? NullNode.instance : delete(value, sorted, 0);
    }

    /** @param paths sorted, the same up to that position */
    private JsonNode delete(JsonNode at, List<List<JsonNode>> paths, int from) {
        JsonNode changed = at;
        List<JsonNode> gone = new ArrayList<>();
        int end = paths.size();
        while (end > 0) {
            JsonNode key = paths.get(end - 1).get(from);
            int start = end - 1;
            while (start > 0 && JqValue.compare(paths.get(start - 1).get(from), key, budget) == 0) {
                start--;
            }
            if (paths.get(start).size() == from + 1) {
                gone.add(key);
            } else {
                JsonNode item = JqAccess.get(changed, key, budget);
                changed =
                        item.isNull() ? changed : put(changed, key, delete(item, paths.subList(start, end), from + 1));
            }
            end = start;
        }
        return gone.isEmpty() || changed.isNull() ? changed : remove(changed, gone);
    }

    private JsonNode remove(JsonNode at, List<JsonNode> keys) {
        budget.work(at.size());
        if (at.isObject()) {
            ObjectNode object = own((ObjectNode) at);
            keys.forEach(key -> object.remove(name(key)));
            return object;
        }
        if (!at.isArray()) {
            throw JqError.of("Cannot delete field at " + (keys.getFirst().isString() ? "object" : "array")
                    + " index of " + JqValue.type(at));
        }
        BitSet gone = new BitSet();
        for (JsonNode key : keys) {
            if (key.isObject()) {
                JqAccess.Range range = JqAccess.range(key, at.size());
                gone.set(range.from(), range.to());
            } else if (key.isNumber()) {
                double number = Math.floor(JqNumber.value(key));
                double index = number < 0 ? number + at.size() : number;
                if (index >= 0 && index < at.size()) {
                    gone.set((int) index);
                }
            } else {
                throw JqError.of("Cannot delete field at object index of array");
            }
        }
        ArrayNode rest = NODES.arrayNode(at.size() - gone.cardinality());
        for (int i = gone.nextClearBit(0); i < at.size(); i = gone.nextClearBit(i + 1)) {
            rest.add(at.get(i));
        }
        mine.add(rest);
        return rest;
    }

    private static String name(JsonNode key) {
        if (!key.isString()) {
            throw JqError.of("Cannot delete field at array index of object");
        }
        return key.stringValue();
    }
}
