package io.keelson.server.mission.plan;

import io.keelson.core.plan.ToolPolicy;
import tools.jackson.databind.JsonNode;

/** Which tools the work on a task may use by the rules of its workspace, its mission and its plan. */
public final class ToolPermissions {

    private ToolPermissions() {}

    /**
     * The rules together.
     *
     * @param config of the run
     * @param task in the plan
     */
    public static ToolPolicy of(ToolPolicy.Rule workspace, JsonNode config, JsonNode task) {
        return new ToolRules(workspace, config).of(task);
    }
}
