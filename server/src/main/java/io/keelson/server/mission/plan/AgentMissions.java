package io.keelson.server.mission.plan;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Missions that have no plan but an agent: one task, which is the goal, done by that agent in turns. */
final class AgentMissions {
    private static final String TASK = "work";

    private AgentMissions() {}

    /** The document with its plan. */
    static JsonNode planned(JsonNode document, String agent) {
        ObjectNode planned = ((ObjectNode) document).deepCopy();
        ObjectNode task = planned.putObject("plan").putArray("tasks").addObject().put("id", TASK);
        task.putObject("suggested_agent").put("type", "roster").put("agent_name", agent);
        return planned;
    }
}
