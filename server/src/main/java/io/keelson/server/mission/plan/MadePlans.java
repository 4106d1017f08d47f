package io.keelson.server.mission.plan;

import io.keelson.core.plan.Models;
import io.keelson.server.base.expr.Expressions;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Further rules for plans that a model of the server makes: their size, that each task's output is checked, and that
 * no task opens a secret: the goal may contain text of strangers, and a step can send a secret anywhere.
 */
final class MadePlans {
    private static final int MAX_TASKS = 20;
    private static final Set<String> JUDGES = Set.of("model", "tool", "human");
    /** Only to find the secrets that expressions name; nothing is evaluated. */
    private static final Expressions EXPRESSIONS = new Expressions();
    private static final List<String> PRICED = List.of("estimated_cost", "budget_usd");

    private MadePlans() {}

    /** Whether the run's planner is a model of the server. */
    static boolean by(JsonNode config) {
        return Models.PLAN_TOOL.equals(JsonFields.text(planner(config), "tool"));
    }

    private static JsonNode planner(JsonNode config) {
        return config.path("planner").isObject() ? config.path("planner") : config.path("replan").path("planner");
    }

    /** The plan without amounts of money, which the engine alone computes. */
    static JsonNode unpriced(JsonNode answer) {
        if (!answer.isObject()) {
            return answer;
        }
        ObjectNode plan = ((ObjectNode) answer).deepCopy();
        plan.remove("total_estimated_cost");
        plan.path("tasks").forEach(task -> {
            if (task instanceof ObjectNode object) {
                object.remove(PRICED);
            }
        });
        return plan;
    }

    static void check(JsonNode answer, JsonNode config, Problems problems) {
        JsonNode tasks = answer.path("tasks");
        int most = JsonFields.integer(planner(config), "max_tasks", MAX_TASKS);
        if (tasks.size() > most) {
            problems.add("TOO_MANY", "/plan/tasks",
                    "at most " + most + " tasks are allowed, these are " + tasks.size());
        }
        for (int i = 0; i < tasks.size(); i++) {
            JsonNode task = tasks.path(i);
            boolean child = !task.path("steps").isEmpty() && task.path("steps").valueStream()
                    .allMatch(step -> "run.start".equals(JsonFields.text(step, "tool")));
            if (!child && !FlatPlan.added(task) && task.path("verify").valueStream().noneMatch(MadePlans::mustPass)) {
                problems.add("CRITERION_REQUIRED", Pointers.of("/plan/tasks", i) + "/verify",
                        "the task needs a check that its output must pass: a check by rule, or one of the kind model with"
                                + " a criterion of must_pass");
            }
            if (!EXPRESSIONS.references(task).secrets().isEmpty()) {
                problems.add("SECRET_NOT_ALLOWED", Pointers.of("/plan/tasks", i),
                        "a plan that a model made opens no secrets; a person can add them to the plan on approval");
            }
        }
    }

    private static boolean mustPass(JsonNode verify) {
        String kind = JsonFields.text(verify, "kind", "");
        return !JUDGES.contains(kind) || kind.equals("tool")
                || verify.path("criteria").valueStream().anyMatch(each -> each.path("must_pass").asBoolean(false));
    }
}
