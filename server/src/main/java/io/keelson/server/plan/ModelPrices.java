package io.keelson.server.plan;

import io.keelson.core.plan.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;

/** Which models have a price. A plan that names one without is refused: what it costs would be a silent zero. */
@FunctionalInterface
public interface ModelPrices {

    /** Where there is no price list to look at: nothing is refused. */
    ModelPrices UNKNOWN = models -> Set.of();

    /** Those of the models that have none; asked once for a plan that names any. */
    Set<String> missing(Set<String> models);

    /** @param plan with pointers from {@code /plan} */
    default List<Problem> check(JsonNode plan) {
        JsonNode tasks = plan.path("tasks");
        Set<String> named = new TreeSet<>();
        tasks.forEach(task -> named.add(Nodes.text(task, "suggested_model", "")));
        named.remove("");
        Set<String> missing = named.isEmpty() ? named : missing(named);
        List<Problem> problems = new ArrayList<>();
        for (int i = 0; i < tasks.size() && !missing.isEmpty(); i++) {
            String model = Nodes.text(tasks.path(i), "suggested_model", "");
            if (missing.contains(model)) {
                problems.add(new Problem("NO_PRICE", Pointers.of(Pointers.of("/plan/tasks", i), "suggested_model"),
                        "the model '" + Pointers.shown(model)
                                + "' has no price: set one with `keelson prices set model "
                                + "NAME USD_PER_MILLION_TOKENS`, or PUT /api/v1/prices"));
            }
        }
        return problems;
    }
}
