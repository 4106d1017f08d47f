package io.keelson.server.mission.recipe;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The view of a recipe in PRD-101. For display only: it has less than the graph of a plan. */
final class LegacyRecipeView {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private LegacyRecipeView() {}

    /** The tasks as a line in which each task follows its upstream tasks. */
    static ArrayNode steps(ObjectNode mission) {
        ArrayNode steps = NODES.arrayNode();
        List<JsonNode> left = new ArrayList<>(mission.path("plan").path("tasks").valueStream().toList());
        Set<String> placed = new HashSet<>();
        while (!left.isEmpty()) {
            JsonNode next = left.stream().filter(task -> upstreams(task).allMatch(placed::contains)).findFirst()
                    .orElse(left.getFirst());
            left.remove(next);
            placed.add(id(next));
            steps.add(step(next, steps.size() + 1, mission.path("config")));
        }
        passOn(steps);
        return steps;
    }

    /** A step passes its output to the first later step that depends on that step. */
    private static void passOn(ArrayNode steps) {
        Map<String, String> next = new HashMap<>();
        steps.forEach(step -> step.path("depends_on")
                .forEach(on -> next.putIfAbsent(on.asString(), step.path("step_id").asString())));
        steps.forEach(step -> ((ObjectNode) step).put("pass_to", next.get(step.path("step_id").asString())));
    }

    private static ObjectNode step(JsonNode task, int order, JsonNode config) {
        JsonNode agent = task.path("assigned_agent").isObject() ? task.path("assigned_agent")
                : task.path("suggested_agent");
        ObjectNode step = NODES.objectNode().put("step_id", id(task)).put("order", order)
                .put("prompt_template", prompt(task));
        boolean roster = agent.path("type").asString("").equals("roster") && agent.path("agent_id").isInt();
        step.set("agent_id", roster ? agent.path("agent_id") : NODES.nullNode());
        step.put("model_override", Stream.of(task.path("suggested_model"), agent.path("model"),
                config.path("model_preferences").path(role(task.path("task_type").asString(""))))
                .filter(JsonNode::isString).findFirst().map(JsonNode::stringValue).orElse(null));
        step.put("task_type", task.path("task_type").asString(null));
        step.set("tools_needed", task.path("tools_needed").isArray() ? task.path("tools_needed") : NODES.arrayNode());
        ArrayNode on = step.putArray("depends_on");
        upstreams(task).forEach(on::add);
        step.putObject("error_handling").put("on_failure", switch (task.path("trigger_rule").asString("all_success")) {
            case "all_done" -> "continue";
            case "always" -> "always_run";
            default -> "stop";
        });
        return step;
    }

    /** The model preference that a task of this type uses; empty if absent. */
    private static String role(String taskType) {
        return switch (taskType) {
            case "research", "analysis" -> "researcher";
            case "review" -> "reviewer";
            case "verification" -> "verifier";
            case "writing", "coding", "synthesis" -> "writer";
            default -> "";
        };
    }

    private static String prompt(JsonNode task) {
        String criteria = task.path("success_criteria").isMissingNode() ? ""
                : "Success criteria: "
                        + task.path("success_criteria").asString(task.path("success_criteria").toString());
        return Stream.of(task.path("title").asString(id(task)), task.path("description").asString(""), criteria)
                .filter(each -> !each.isBlank()).collect(Collectors.joining("\n\n"));
    }

    private static String id(JsonNode task) {
        return task.path("id").asString(task.path("temp_id").asString(""));
    }

    private static Stream<String> upstreams(JsonNode task) {
        return task.path("depends_on").valueStream().map(on -> on.path("task").asString(on.asString("")));
    }

    /** The shown part of the configuration, and its source. */
    static ObjectNode config(ObjectNode mission, NewRecipe.@Nullable Lineage lineage) {
        JsonNode config = mission.path("config");
        ObjectNode shown = NODES.objectNode().put("mode",
                mission.path("plan").path("strategy").asString("mixed").equals("sequential") ? "sequential"
                        : "parallel");
        if (config.has("budget")) {
            shown.set("budget", config.path("budget"));
        }
        if (config.path("retry").has("max_retries_per_task")) {
            shown.set("max_retries", config.path("retry").path("max_retries_per_task"));
        }
        if (lineage != null) {
            shown.putObject("originated_from").put("mission_run_id", lineage.run().toString())
                    .put("actual_cost", lineage.cost()).put("actual_tokens", lineage.tokens())
                    .put("actual_duration_ms", lineage.durationMs()).put("completed_at", lineage.completedAt());
        }
        return shown;
    }
}
