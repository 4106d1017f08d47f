package io.keelson.server.mission.plan;

import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.RunsOn;
import io.keelson.server.mission.plan.AgentAssignment.Hired;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The input of each turn of an agent: the run's goal, the task in words, its instructions, its tools, the outputs of
 * the task's data upstreams, its earlier turns, and the problems of the task's last attempt.
 */
final class TurnInput {

    private TurnInput() {}

    /** @param agent null when no agent is assigned */
    static ObjectNode of(JsonNode task, String title, List<Dependency> upstreams, @Nullable Hired agent) {
        ObjectNode input = JsonNodeFactory.instance.objectNode().put("goal", "${ .run.goal }").put("title", title);
        copy(task, "description", input, "description");
        copy(task, "success_criteria", input, "success_criteria");
        copy(task, "suggested_model", input, "model");
        copy(task, "tools_needed", input, "tools");
        copy(task, "output_schema", input, "output_schema");
        if (agent != null) {
            fill(input, agent);
        }
        if (task.path("inputs").isObject()) {
            input.set("inputs", task.path("inputs"));
        } else {
            input.put("inputs", "${ .inputs }");
        }
        ObjectNode outputs = input.putObject("upstream");
        upstreams.stream().filter(Dependency::data).map(Dependency::task)
                .forEach(each -> outputs.put(each, outputOf(each)));
        return input.put("transcript", "${ .transcript }").put("feedback", "${ .task.failure }");
    }

    private static void fill(ObjectNode input, Hired agent) {
        if (agent.terms().slug() != null) {
            input.put("agent", literal(agent.terms().slug()));
        }
        if (agent.instructions() != null) {
            input.put("instructions", literal(agent.instructions()));
        }
        if (agent.terms().model() != null) {
            input.put("model", literal(agent.terms().model()));
        }
        if (agent.terms().maxTurns() > 0 && agent.terms().runsOn() == RunsOn.SERVER) {
            input.put("max_turns", agent.terms().maxTurns());
        }
        agent.terms().tools().forEach(input.putArray("tools")::add);
    }

    /** Escapes an agent's instructions, which must not be evaluated as expressions. */
    private static String literal(String text) {
        return text.replace("${", "$${");
    }

    private static void copy(JsonNode from, String key, ObjectNode to, String as) {
        @Nullable JsonNode value = from.get(key);
        if (value != null && !value.isNull()) {
            to.set(as, value);
        }
    }

    private static String outputOf(String task) {
        return "${ .tasks[" + JsonNodeFactory.instance.stringNode(task) + "].output }";
    }
}
