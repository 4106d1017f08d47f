package io.keelson.server.plan;

import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.TaskSpec;
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

    /**
     * @param config with pointers from {@code /config}
     * @param plan with pointers from {@code /plan}
     * @param read the same plan, with the agents that its tasks were given
     */
    default List<PlanProblem> check(JsonNode config, JsonNode plan, Plan read) {
        JsonNode tasks = plan.path("tasks");
        JsonNode preferences = config.path("model_preferences");
        Set<String> named = new TreeSet<>();
        preferences.forEach(model -> named.add(model.asString("")));
        tasks.forEach(task -> named.add(JsonFields.text(task, "suggested_model", "")));
        read.tasks().forEach(task -> named.add(ofAgent(task)));
        named.remove("");
        Set<String> missing = named.isEmpty() ? named : missing(named);
        if (missing.isEmpty()) {
            return List.of();
        }
        List<PlanProblem> problems = new ArrayList<>();
        preferences.forEachEntry((role, model) -> {
            if (missing.contains(model.asString(""))) {
                problems.add(noPrice(Pointers.of("/config/model_preferences", role),
                        "the model '" + Pointers.shown(model.asString()) + "' has no price"));
            }
        });
        for (int i = 0; i < tasks.size(); i++) {
            String model = JsonFields.text(tasks.path(i), "suggested_model", "");
            if (missing.contains(model)) {
                problems.add(noPrice(Pointers.of(Pointers.of("/plan/tasks", i), "suggested_model"),
                        "the model '" + Pointers.shown(model) + "' has no price"));
            }
        }
        for (int i = 0; i < read.tasks().size(); i++) {
            TaskSpec task = read.tasks().get(i);
            String model = ofAgent(task);
            if (missing.contains(model) && !JsonFields.text(tasks.path(i), "suggested_model", "").equals(model)) {
                problems.add(noPrice(Pointers.of("/plan/tasks", i),
                        "the agent '" + Pointers.shown(String.valueOf(task.agent())) + "' works with the model '"
                                + Pointers.shown(model) + "', which has no price"));
            }
        }
        return problems;
    }

    private static PlanProblem noPrice(String pointer, String what) {
        return new PlanProblem("NO_PRICE", pointer, what
                + ": set one with `keelson prices set model NAME --input USD --output USD`, or PUT /api/v1/prices");
    }

    /** The model of the agent that does the task in turns; empty for none. */
    private static String ofAgent(TaskSpec task) {
        AgentTerms terms = task.policy().agent();
        boolean turns = task.steps().stream().anyMatch(step -> step.kind() == StepKind.TURN);
        return !turns || terms == null || terms.model() == null ? "" : terms.model();
    }
}
