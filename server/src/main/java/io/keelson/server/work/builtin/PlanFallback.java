package io.keelson.server.work.builtin;

import io.keelson.core.policy.Effects;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.util.Set;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** {@code plan.fallback}: a planner with prepared answers: other tasks for failed ones. */
final class PlanFallback implements Tool {

    private static final ToolSpec SPEC = Specs.spec("plan.fallback", Effects.READ,
            "Replans by rules: returns the tasks of every rule whose task has failed.", """
            {"type": "object", "additionalProperties": false, "required": ["failure", "rules"], "properties": {
              "failure": {"type": "object", "description": "what failed: .failure, with tasks: [{key, …}]"},
              "rules": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {
                "type": "object", "additionalProperties": false, "required": ["when_failed", "tasks"], "properties": {
                  "when_failed": {"type": "string", "minLength": 1, "description": "a task's id, or * for any"},
                  "tasks": {"type": "array", "items": {"type": "object"},
                            "description": "as in a plan; write $${ for ${ in their expressions"}}}}}}""", """
            {"type": "object", "required": ["tasks"], "properties": {"tasks": {"type": "array"}}}""");

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure {
        Set<String> failed = call.input().path("failure").path("tasks").valueStream()
                .map(task -> task.path("key").asString("")).collect(Collectors.toSet());
        ObjectNode plan = JsonNodeFactory.instance.objectNode();
        ArrayNode tasks = plan.putArray("tasks");
        for (JsonNode rule : call.input().get("rules")) {
            String wanted = rule.get("when_failed").stringValue();
            if (wanted.equals("*") || failed.contains(wanted)) {
                rule.get("tasks").forEach(tasks::add);
            }
        }
        if (tasks.isEmpty()) {
            throw ToolFailure.permanent("NO_FALLBACK",
                    "no rule matches the failed tasks: " + String.join(", ", failed));
        }
        return ToolResult.of(plan);
    }
}
