package io.keelson.server.mission.plan;

import io.keelson.core.plan.Models;
import io.keelson.core.plan.ToolKnowledge;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Missions without a plan: a planner makes it while the run is {@code planning}, or one agent executes the goal. */
final class GoalMissions {
    /** The tool of workers that make plans for goals. */
    private static final String PLANNER = "plan";
    /** A model thinks for longer than a tool works. Seconds. */
    private static final int TIMEOUT_SECONDS = 120;
    private static final String AGENT_TASK = "work";

    private GoalMissions() {}

    /** True of a goal for which a planner has to be found. */
    static boolean is(JsonNode document) {
        return (document.path("goal").isString() || document.path("task").isString()) && !document.has("plan")
                && !document.has("recipe") && !document.has("agent_slug");
    }

    /** The document with a plan of one task, its goal, which the agent executes in turns. */
    static JsonNode forAgent(JsonNode document, String agent) {
        ObjectNode planned = ((ObjectNode) document).deepCopy();
        ObjectNode task = planned.putObject("plan").putArray("tasks").addObject().put("id", AGENT_TASK);
        task.putObject("suggested_agent").put("type", "roster").put("agent_name", agent);
        return planned;
    }

    /** True of the plan of a run whose planner has not made it yet. */
    static boolean unplanned(JsonNode plan) {
        return plan.path("version").isNumber() && plan.path("version").asInt(1) == 0;
    }

    /**
     * The document with its planner, which may be known to the server only later, and a plan that is still to come.
     *
     * @param modelPlans whether a model of the server plans where the document names no planner
     */
    static JsonNode planned(JsonNode document, boolean modelPlans) {
        JsonNode config = document.path("config");
        boolean named = config.path("planner").isObject() || config.path("replan").path("planner").isObject();
        ObjectNode planned = ((ObjectNode) document).deepCopy();
        planned.putObject("plan").put("version", 0).putArray("tasks");
        if (!named && (config.isObject() || config.isMissingNode())) {
            ObjectNode settled = config.isObject() ? (ObjectNode) planned.get("config") : planned.putObject("config");
            settled.set("planner",
                    modelPlans ? JsonNodeFactory.instance.objectNode().put("tool", Models.PLAN_TOOL) : served());
        }
        return planned;
    }

    /** Whether the model of {@code model_preferences.planner} is to plan: the server calls it, and no worker plans. */
    static boolean modelPlans(JsonNode document, ToolKnowledge tools, ModelRules models) {
        String model = JsonFields.text(document.path("config").path("model_preferences"), "planner");
        return model != null && models.configured(model) && !tools.knows(PLANNER);
    }

    private static ObjectNode served() {
        return JsonNodeFactory.instance.objectNode().put("tool", PLANNER).put("timeout_seconds", TIMEOUT_SECONDS);
    }

    /** Why there can be no plan. */
    static String refusal(boolean run) {
        return run ? "a plan, a goal,"
                + " a recipe or an agent_slug is required" : "a recipe requires a plan with tasks";
    }
}
