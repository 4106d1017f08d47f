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
     * @param plan with pointers from {@code /plan}
     * @param read the same plan, with the agents that its tasks were given
     */
    default List<PlanProblem> check(JsonNode plan, Plan read) {
        JsonNode tasks = plan.path("tasks");
        Set<String> named = new TreeSet<>();
        tasks.forEach(task -> named.add(JsonFields.text(task, "suggested_model", "")));
        read.tasks().forEach(task -> named.add(ofAgent(task)));
        named.remove("");
        Set<String> missing = named.isEmpty() ? named : missing(named);
        List<PlanProblem> problems = new ArrayList<>();
        for (int i = 0; i < tasks.size() && !missing.isEmpty(); i++) {
            String model = JsonFields.text(tasks.path(i), "suggested_model", "");
            if (missing.contains(model)) {
                problems.add(new PlanProblem("NO_PRICE", Pointers.of(Pointers.of("/plan/tasks", i), "suggested_model"),
                        "the model '" + Pointers.shown(model)
                                + "' has no price: set one with `keelson prices set model "
                                + "NAME --input USD --output USD`, or PUT /api/v1/prices"));
            }
        }
        for (int i = 0; i < read.tasks().size() && !missing.isEmpty(); i++) {
            TaskSpec task = read.tasks().get(i);
            String model = ofAgent(task);
            if (missing.contains(model) && !JsonFields.text(tasks.path(i), "suggested_model", "").equals(model)) {
                problems.add(new PlanProblem("NO_PRICE", Pointers.of("/plan/tasks", i), "the agent '"
                        + Pointers.shown(String.valueOf(task.agent())) + "' works with the model '"
                        + Pointers.shown(model) + "', which has no price: set one with `keelson prices set model "
                        + "NAME --input USD --output USD`, or PUT /api/v1/prices"));
            }
        }
        return problems;
    }

    /** The model of the agent that does the task in turns; empty for none. */
    private static String ofAgent(TaskSpec task) {
        AgentTerms terms = task.policy().agent();
        boolean turns = task.steps().stream().anyMatch(step -> step.kind() == StepKind.TURN);
        return !turns || terms == null || terms.model() == null ? "" : terms.model();
    }
}
