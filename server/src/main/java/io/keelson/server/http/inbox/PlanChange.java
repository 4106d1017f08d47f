package io.keelson.server.http.inbox;

import java.math.BigDecimal;
import java.util.LinkedHashSet;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A new plan beside the one that it is to replace, as a person is shown it. */
final class PlanChange {

    private PlanChange() {}

    /**
     * What the inbox reads, with the ids of tasks divided by what becomes of them.
     *
     * @param read with {@code proposed}, {@code previous} and {@code completed}, which are taken out
     */
    static ObjectNode told(ObjectNode read) {
        ObjectNode told = read.deepCopy();
        Set<String> proposed = ids(told.remove("proposed"));
        Set<String> previous = ids(told.remove("previous"));
        Set<String> completed = ids(told.remove("completed"));
        ObjectNode changes = told.putObject("changes");
        put(changes, "added", without(proposed, previous));
        put(changes, "replaced", common(proposed, previous));
        put(changes, "dropped", without(without(previous, proposed), completed));
        put(changes, "kept", completed);
        told.put("estimated_cost", estimate(told.path("plan")));
        return told;
    }

    private static BigDecimal estimate(JsonNode plan) {
        JsonNode whole = plan.path("total_estimated_cost");
        return whole.isNumber() ? whole.decimalValue()
                : plan.path("tasks").valueStream().map(task -> task.path("estimated_cost")).filter(JsonNode::isNumber)
                        .map(JsonNode::decimalValue).reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    private static Set<String> ids(JsonNode list) {
        Set<String> ids = new LinkedHashSet<>();
        list.forEach(each -> ids.add(each.asString("")));
        return ids;
    }

    private static Set<String> without(Set<String> ids, Set<String> others) {
        Set<String> rest = new LinkedHashSet<>(ids);
        rest.removeAll(others);
        return rest;
    }

    private static Set<String> common(Set<String> ids, Set<String> others) {
        Set<String> both = new LinkedHashSet<>(ids);
        both.retainAll(others);
        return both;
    }

    private static void put(ObjectNode changes, String name, Set<String> ids) {
        ArrayNode list = changes.putArray(name);
        ids.forEach(list::add);
    }
}
