package io.keelson.server.mission.plan;

import io.keelson.core.plan.Plan;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.server.base.json.Json;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.UnaryOperator;
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
}
