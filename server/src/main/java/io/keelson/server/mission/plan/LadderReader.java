package io.keelson.server.mission.plan;

import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.Rung;
import io.keelson.core.plan.TaskType;
import io.keelson.server.mission.plan.AgentAssignment.Hired;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The ladders of tasks: models of retries and {@code config.ladder}, with the agents that each task's rungs give it.
 * Chosen once, as agents are.
 */
final class LadderReader {
    static final String STORED = "assigned_ladder";

    private final JsonNode config;
    private final AgentAssignment agentAssignment;
    private final StepReader steps;
    private final Map<JsonNode, ArrayNode> written = new IdentityHashMap<>();

    /** @param config the run's, with its {@code ladder}; a stored ladder of a task goes before it */
    LadderReader(JsonNode config, AgentAssignment agentAssignment, StepReader steps) {
        this.config = config;
        this.agentAssignment = agentAssignment;
        this.steps = steps;
    }

    static void check(JsonNode config, Problems problems) {
        JsonNode ladder = config.path("ladder");
        for (int i = 0; i < ladder.size(); i++) {
            if ("model".equals(JsonFields.text(ladder.path(i), "to")) && !ladder.path(i).has("model")) {
                problems.add("REQUIRED", Pointers.of("/config/ladder", i) + "/model",
                        "'model' must be given: the rung gives the task another model");
            }
        }
    }

    /** @param agent who does the task first; null if absent */
    List<Rung> read(JsonNode task, TaskType type, String title, List<Dependency> upstreams, @Nullable Hired agent) {
        boolean stored = agentAssignment.trusting() && task.path(STORED).isArray();
        JsonNode ladder = stored ? task.path(STORED) : declared(task);
        List<Rung> rungs = new ArrayList<>();
        ArrayNode all = JsonNodeFactory.instance.arrayNode();
        boolean turns = task.path("steps").isEmpty();
        Hired now = agent;
        for (JsonNode each : ladder) {
            Rung.To to = JsonFields.word(each, "to", Rung.To.values(), Rung.To.FAIL);
            ObjectNode rung = all.addObject().put("to", to.wire());
            Hired next = !turns || to != Rung.To.AGENT && to != Rung.To.MODEL && to != Rung.To.RETRY ? null
                    : stored ? AgentAssignment.stored(each, task)
                            : to == Rung.To.AGENT ? agentAssignment.other(task, type, now)
                                    : agentAssignment.withModel(now, JsonFields.text(each, "model", ""));
            if (next == null) {
                rungs.add(new Rung(to, null, null));
            } else {
                now = next;
                rung.set(AgentAssignment.key(), AgentAssignment.written(next));
                rungs.add(new Rung(to, next.terms(), steps.turn(TurnInput.of(task, title, upstreams, next),
                        next.terms().runsOn(), "turn-" + (rungs.size() + 2))));
            }
        }
        if (!rungs.isEmpty()) {
            written.put(task, all);
        }
        return rungs;
    }

    /** The models of the task's retries, then the ladder of the run. */
    private ArrayNode declared(JsonNode task) {
        ArrayNode all = JsonNodeFactory.instance.arrayNode();
        if (task.path("steps").isEmpty()) {
            Retries.models(task, config)
                    .forEach(model -> all.addObject().put("to", Rung.To.RETRY.wire()).put("model", model));
        }
        return all.addAll(config.path("ladder").valueStream().toList());
    }

    /** As it is stored; null if absent. */
    @Nullable ArrayNode write(JsonNode task) {
        return written.get(task);
    }
}
