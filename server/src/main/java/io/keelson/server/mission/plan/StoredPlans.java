package io.keelson.server.mission.plan;

import io.keelson.core.plan.Flow;
import io.keelson.core.plan.Plan;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.server.base.json.Json;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/** Reads plans as runs keep them: checked when they were accepted, so any problem now is a bug. */
public final class StoredPlans {
    private final Function<String, Duration> toolTimeout;

    /** @param toolTimeout how long a call of a tool may take when its step says nothing */
    public StoredPlans(Function<String, Duration> toolTimeout) {
        this.toolTimeout = toolTimeout;
    }

    /**
     * @param json what {@link CheckedMission#planJson} was
     * @throws IllegalStateException when it is no such thing
     */
    public Plan read(String json) {
        Problems problems = new Problems();
        Plan plan = MissionReader.plan(Json.read(json),
                new TaskReader(new StepReader(toolTimeout, problems), RetryPolicy.TASK, AgentAssignment.stored(),
                        UnaryOperator.identity(), MissingNode.getInstance(), problems));
        if (!problems.isEmpty()) {
            throw new IllegalStateException("a stored plan cannot be read: " + problems.all());
        }
        return plan;
    }

    /** The place of a task in the switches and groups of its plan. */
    public static Flow flow(JsonNode raw) {
        return new Flow(JsonFields.text(raw, "chooses"), JsonFields.text(raw, "ends"),
                raw.path("branches").valueStream().map(each -> new Flow.Branch(JsonFields.text(each, "name", ""),
                        JsonFields.text(each, "when"))).toList(),
                raw.path("within").valueStream().map(each -> new Flow.Place(JsonFields.text(each, "of", ""),
                        JsonFields.text(each, "branch"))).toList());
    }
}
