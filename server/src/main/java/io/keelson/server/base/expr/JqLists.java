package io.keelson.server.base.expr;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.NullNode;

/** Functions of lists: order, groups, sums. */
final class JqLists {

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private record Keyed(JsonNode item, JsonNode key) {}

    private JqLists() {}

    static Map<String, JqFunction.OfValues> functions() {
        Map<String, JqFunction.OfValues> functions = new HashMap<>();
        functions.put("_sort_by/1", (in, args, budget) -> JqValue.array(
                sorted(in, args.getFirst(), budget).stream().map(Keyed::item).toList()));
        functions.put("_group_by/1", (in, args, budget) -> groups(in, args.getFirst(), budget));
        functions.put("_min_by/1", (in, args, budget) -> extreme(in, args.getFirst(), budget, -1));
        functions.put("_max_by/1", (in, args, budget) -> extreme(in, args.getFirst(), budget, 1));
        functions.put("bsearch/1", (in, args, budget) -> search(in, args.getFirst(), budget));
        functions.put("add/0", (in, args, budget) -> sum(in, budget));
        functions.put("join/1", (in, args, budget) -> join(in, args.getFirst(), budget));
        functions.put("flatten/1", (in, args, budget) -> flatten(in, args.getFirst(), budget));
        functions.put("reverse/0", (in, args, budget) -> reversed(in));
        functions.put("transpose/0", (in, args, budget) -> transposed(in, budget));
        functions.put("_pairs/0", (in, args, budget) -> {
            ArrayNode pairs = NODES.arrayNode();
            for (int i = 0; i + 1 < in.size(); i += 2) {
                pairs.addArray().add(in.get(i)).add(in.get(i + 1));
            }
            return pairs;
        });
        return functions;
    }

    private static List<Keyed> keyed(JsonNode in, JsonNode keys, String doing) {
        if (!in.isArray()) {
            throw JqError.of(JqValue.shown(in) + " cannot be " + doing + ", as it is not an array");
        }
        List<Keyed> keyed = new ArrayList<>(in.size());
        for (int i = 0; i < in.size(); i++) {
            keyed.add(new Keyed(in.get(i), keys.get(i)));
        }
        return keyed;
    }

    private static List<Keyed> sorted(JsonNode in, JsonNode keys, EvaluationBudget budget) {
        List<Keyed> sorted = keyed(in, keys, "sorted");
        sorted.sort(Comparator.comparing(Keyed::key, (a, b) -> JqValue.compare(a, b, budget)));
        return sorted;
    }

    private static JsonNode groups(JsonNode in, JsonNode keys, EvaluationBudget budget) {
        ArrayNode groups = NODES.arrayNode();
        ArrayNode group = NODES.arrayNode();
        JsonNode key = null;
        for (Keyed each : sorted(in, keys, budget)) {
            if (key == null || !JqValue.equal(key, each.key, budget)) {
                group = groups.addArray();
                key = each.key;
            }
            group.add(each.item);
        }
        return groups;
    }

    /** The first of the smallest, or the last of the greatest. */
    private static JsonNode extreme(JsonNode in, JsonNode keys, EvaluationBudget budget, int sign) {
        Keyed found = null;
        for (Keyed each : keyed(in, keys, "iterated over")) {
            int difference = found == null ? sign : JqValue.compare(each.key, found.key, budget);
            if (difference * sign > 0 || difference == 0 && sign > 0) {
                found = each;
            }
        }
        return found == null ? NullNode.instance : found.item;
    }

    /** Where it is in a sorted list; as {@code -1 - position} where it would be. */
    private static JsonNode search(JsonNode in, JsonNode wanted, EvaluationBudget budget) {
        if (!in.isArray()) {
            throw JqError.of(JqValue.shown(in) + " cannot be searched from");
        }
        int low = 0;
        int high = in.size() - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            int difference = JqValue.compare(in.get(middle), wanted, budget);
            if (difference == 0) {
                return JqNumber.of(middle);
            }
            low = difference < 0 ? middle + 1 : low;
            high = difference < 0 ? high : middle - 1;
        }
        return JqNumber.of(-1 - low);
    }

    /** Texts and lists are put together at once, as one after the other takes quadratic time. */
    private static JsonNode sum(JsonNode in, EvaluationBudget budget) {
        if (!in.isContainer()) {
            throw JqError.of("Cannot iterate over " + JqValue.shown(in));
        }
        if (!in.isEmpty() && in.valueStream().allMatch(JsonNode::isString)) {
            StringBuilder text = new StringBuilder();
            in.forEach(each -> append(text, each.stringValue(), budget));
            return JqValue.text(text.toString());
        }
        if (!in.isEmpty() && in.valueStream().allMatch(JsonNode::isArray)) {
            ArrayNode list = NODES.arrayNode();
            long[] bytes = new long[1];
            in.forEach(each -> {
                bytes[0] += budget.weigh(each);
                budget.checkValue(bytes[0]);
                each.forEach(list::add);
            });
            return list;
        }
        JsonNode sum = NullNode.instance;
        for (JsonNode each : in) {
            sum = JqOperator.ADD.of(sum, each, budget);
        }
        return sum;
    }

    private static void append(StringBuilder text, String part, EvaluationBudget budget) {
        budget.step();
        text.append(part);
        budget.checkValue(text.length());
    }

    private static JsonNode join(JsonNode in, JsonNode separator, EvaluationBudget budget) {
        if (!in.isContainer()) {
            throw JqError.of("Cannot iterate over " + JqValue.shown(in));
        }
        if (!in.isEmpty() && !separator.isString()) {
            throw JqError.of(JqValue.shown(separator) + " cannot be added to a string");
        }
        StringBuilder text = new StringBuilder();
        boolean first = true;
        for (JsonNode each : in) {
            append(text, first ? "" : separator.stringValue(), budget);
            first = false;
            if (each.isContainer()) {
                throw JqError.of(JqValue.shown(JqValue.text(text.toString())) + " and " + JqValue.shown(each)
                        + " cannot be added");
            }
            append(text, each.isNull() ? "" : JqText.of(each, budget), budget);
        }
        return JqValue.text(text.toString());
    }

    private static JsonNode flatten(JsonNode in, JsonNode depth, EvaluationBudget budget) {
        if (!depth.isNumber() || JqNumber.value(depth) < 0) {
            throw JqError.of("flatten depth must not be negative");
        }
        if (!in.isContainer()) {
            throw JqError.of("Cannot iterate over " + JqValue.shown(in));
        }
        ArrayNode flat = NODES.arrayNode();
        flatten(in, JqNumber.value(depth), flat, budget);
        return flat;
    }

    private static void flatten(JsonNode in, double depth, ArrayNode into, EvaluationBudget budget) {
        in.forEach(each -> {
            budget.step();
            budget.checkValue(into.size() * 8L);
            if (each.isArray() && depth > 0) {
                flatten(each, depth - 1, into, budget);
            } else {
                into.add(each);
            }
        });
    }

    private static JsonNode reversed(JsonNode in) {
        if (in.isString()) {
            int[] points = in.stringValue().codePoints().toArray();
            StringBuilder text = new StringBuilder();
            for (int i = points.length - 1; i >= 0; i--) {
                text.appendCodePoint(points[i]);
            }
            return JqValue.text(text.toString());
        }
        if (in.isNull()) {
            return NODES.arrayNode();
        }
        if (!in.isArray()) {
            throw JqError.of("Cannot reverse " + JqValue.shown(in));
        }
        return JqValue.array(in.valueStream().toList().reversed());
    }

    private static JsonNode transposed(JsonNode in, EvaluationBudget budget) {
        ArrayNode rows = NODES.arrayNode();
        int width = in.valueStream().mapToInt(JsonNode::size).max().orElse(0);
        budget.checkValue(8L * width * in.size());
        for (int i = 0; i < width; i++) {
            ArrayNode row = rows.addArray();
            JsonNode index = JqNumber.of(i);
            in.forEach(each -> row.add(JqAccess.get(each, index, budget)));
        }
        return rows;
    }
}
