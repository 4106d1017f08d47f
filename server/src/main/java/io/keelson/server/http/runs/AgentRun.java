package io.keelson.server.http.runs;

import io.keelson.server.http.support.Fields;
import io.keelson.server.http.support.IdKind;
import io.keelson.server.http.support.Json;
import io.keelson.server.plan.CheckedMission;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code POST /agents/run}: what it asks for as a mission, and its answer. */
final class AgentRun {
    private static final int MAX_SLUG = 255;
    private static final int MAX_GOAL = 100_000;

    private AgentRun() {}

    /** Members passed to the mission unchanged; the mission's schema checks them. */
    private static final String[] SAME = {"name", "description", "config", "priority", "trigger", "tags", "external_id",
            "external_id_policy"};

    static JsonNode mission(Fields fields) {
        ObjectNode document = Json.object();
        document.put("agent_slug", fields.text("agent_slug", MAX_SLUG));
        @Nullable String goal = fields.optionalText("goal", MAX_GOAL);
        @Nullable String task = fields.optionalText("task", MAX_GOAL);
        if ((goal == null) == (task == null)) {
            fields.problem(goal == null ? "REQUIRED" : "INVALID_VALUE", "goal",
                    "goal or task is required" + (goal == null ? "" : ", not both"));
        }
        document.put("goal", Objects.requireNonNullElse(goal == null ? task : goal, ""));
        JsonNode inputs = fields.any("inputs");
        if (inputs != null && !inputs.isObject()) {
            fields.problem("WRONG_TYPE", "inputs", "must be an object");
        } else if (inputs != null) {
            ObjectNode declared = document.putObject("inputs");
            inputs.propertyNames().forEach(declared::putObject);
            document.set("input", inputs);
        }
        for (String key : SAME) {
            JsonNode value = fields.any(key);
            if (value != null) {
                document.set(key, value);
            }
        }
        fields.done();
        return document.put("start", true);
    }

    /** Accepted is what that contract calls {@code requested}; the run itself says where it is by now. */
    static ObjectNode document(UUID id, CheckedMission mission, ObjectNode run) {
        ObjectNode document = Json.object().put("run_id", IdKind.RUN.prefixed(id))
                .put("agent_slug", mission.agentSlug()).put("status", "requested");
        document.set("run", run);
        return document;
    }
}
