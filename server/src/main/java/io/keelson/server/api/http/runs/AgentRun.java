package io.keelson.server.api.http.runs;

import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.plan.CheckedMission;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The body of {@code POST /agents/run}: a mission of one task for one agent. The mission's schema checks
 * the members that it shares with missions.
 */
record AgentRun(String agentSlug, @Nullable String goal, @Nullable String task, @Nullable ObjectNode inputs,
        @Nullable JsonNode name, @Nullable JsonNode description, @Nullable JsonNode config,
        @Nullable JsonNode priority, @Nullable JsonNode trigger, @Nullable JsonNode tags,
        @Nullable JsonNode externalId, @Nullable JsonNode externalIdPolicy) {

    /** Default of {@code config.timeouts.run_max_duration_seconds} for these runs. */
    private static final int MAX_SECONDS = 600;

    JsonNode mission() {
        if ((goal == null) == (task == null)) {
            throw ApiProblem.of(goal == null ? "REQUIRED" : "INVALID_VALUE", "/goal",
                    "goal or task is required" + (goal == null ? "" : ", not both"));
        }
        ObjectNode document = Json.object().put("agent_slug", agentSlug).put("goal", goal == null ? task : goal);
        if (inputs != null) {
            ObjectNode declared = document.putObject("inputs");
            inputs.propertyNames().forEach(declared::putObject);
            document.set("input", inputs);
        }
        put(document, "name", name);
        put(document, "description", description);
        put(document, "config", config);
        put(document, "priority", priority);
        put(document, "trigger", trigger);
        put(document, "tags", tags);
        put(document, "external_id", externalId);
        put(document, "external_id_policy", externalIdPolicy);
        bound(document);
        return document.put("start", true);
    }

    /** Sets the run's timeout where the configuration does not; a configuration of another type is refused later. */
    private static void bound(ObjectNode document) {
        JsonNode config = document.path("config");
        JsonNode timeouts = config.path("timeouts");
        if ((config.isMissingNode() || config.isObject()) && (timeouts.isMissingNode() || timeouts.isObject())) {
            ObjectNode bounded = document.withObjectProperty("config").withObjectProperty("timeouts");
            if (!bounded.has("run_max_duration_seconds")) {
                bounded.put("run_max_duration_seconds", MAX_SECONDS);
            }
        }
    }

    private static void put(ObjectNode document, String member, @Nullable JsonNode value) {
        if (value != null) {
            document.set(member, value);
        }
    }

    /** Accepted is what that contract calls {@code requested}; the run itself says where it is by now. */
    static ObjectNode document(UUID id, CheckedMission mission, ObjectNode run) {
        ObjectNode document = Json.object().put("run_id", IdKind.RUN.prefixed(id))
                .put("agent_slug", mission.agentSlug()).put("status", "requested");
        document.set("run", run);
        return document;
    }
}
