package io.keelson.server.api.http.inbox;

import java.math.BigDecimal;
import java.util.LinkedHashSet;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A new plan, compared with the plan that it replaces, as shown to a person. */
final class PlanChange {

    private PlanChange() {}

    /**
     * Converts the subject read by the inbox: groups the ids of tasks by their change.
     *
     * @param read with {@code proposed}, {@code previous} and {@code completed}, which are taken out
     */
    static ObjectNode document(ObjectNode read) {
        ObjectNode document = read.deepCopy();
        Set<String> proposed = ids(document.remove("proposed"));
        Set<String> previous = ids(document.remove("previous"));
        Set<String> completed = ids(document.remove("completed"));
        ObjectNode changes = document.putObject("changes");
        put(changes, "added", without(proposed, previous));
        put(changes, "replaced", common(proposed, previous));
        put(changes, "dropped", without(without(previous, proposed), completed));
        put(changes, "kept", completed);
        document.put("estimated_cost", estimate(document.path("plan")));
        return document;
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
