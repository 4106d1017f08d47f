package io.keelson.server.api.http.runs;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Reduces a mission to one of its tasks, for a fork without further consequences. */
final class TaskOnly {

    /** Members of the config that would ask people, start other work than the task's, or wait for other runs. */
    private static final List<String> CONFIG =
            List.of("hooks", "acceptance", "ladder", "replan", "planner", "escalation",
                    "failure_mode", "agent_failure_mode", "concurrency");

    private TaskOnly() {}

    /** Keeps the task without checks by people, and the tasks that it depends on. */
    static void reduce(ObjectNode mission, String task) {
        mission.remove("output");
        ObjectNode config = mission.path("config") instanceof ObjectNode given ? given : mission.putObject("config");
        config.remove(CONFIG);
        config.putObject("autonomy").put("level", "full_auto");
        keepModel(config);
        if (mission.path("plan") instanceof ObjectNode plan) {
            plan.remove("total_estimated_cost");
            Set<String> kept = withUpstreams(plan.path("tasks"), task);
            if (plan.path("tasks").isArray()) {
                plan.withArray("tasks").removeIf(each -> !kept.contains(each.path("temp_id").asString("")));
            }
            plan.path("tasks").forEach(TaskOnly::keepModel);
            plan.path("tasks").valueStream().filter(each -> each.path("temp_id").asString("").equals(task))
                    .map(each -> each.path("verify")).filter(JsonNode::isArray)
                    .forEach(TaskOnly::removeHumans);
        }
    }

    /** Retries keep the model of the first attempt. */
    private static void keepModel(JsonNode holder) {
        if (holder.path("retry") instanceof ObjectNode retry) {
            retry.remove("escalate_model");
        }
    }

    private static void removeHumans(JsonNode verify) {
        verify.asArray().removeIf(each -> each.path("kind").asString("").equals("human"));
    }

    private static Set<String> withUpstreams(JsonNode tasks, String task) {
        Map<String, JsonNode> upstreams = new HashMap<>();
        tasks.forEach(each -> upstreams.put(each.path("temp_id").asString(""), each.path("depends_on")));
        Set<String> kept = new HashSet<>();
        Deque<String> open = new ArrayDeque<>(List.of(task));
        while (!open.isEmpty()) {
            String next = open.pop();
            if (kept.add(next) && upstreams.get(next) instanceof JsonNode on) {
                on.forEach(each -> open.push(each.isString() ? each.stringValue() : each.path("task").asString("")));
            }
        }
        return kept;
    }
}
