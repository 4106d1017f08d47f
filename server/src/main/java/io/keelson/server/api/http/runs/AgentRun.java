package io.keelson.server.api.http.runs;

import io.keelson.api.run.RunAction;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.plan.CheckedMission;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Runs of one task for one agent, as missions. The mission's schema checks the members that a request shares with
 * missions.
 */
final class AgentRun {

    /** Default of {@code config.timeouts.run_max_duration_seconds} for these runs. */
    private static final int MAX_SECONDS = 600;

    private AgentRun() {}

    static JsonNode mission(RunAction.OfAgent given) {
        String goal = given.goal();
        String task = given.task();
        ObjectNode inputs = given.inputs();
        if ((goal == null) == (task == null)) {
            throw ApiProblem.of(goal == null ? "REQUIRED" : "INVALID_VALUE", "/goal",
                    "goal or task is required" + (goal == null ? "" : ", not both"));
        }
        ObjectNode document =
                Json.object().put("agent_slug", given.agentSlug()).put("goal", goal == null ? task : goal);
        if (inputs != null) {
            ObjectNode declared = document.putObject("inputs");
            inputs.propertyNames().forEach(declared::putObject);
            document.set("input", inputs);
        }
        put(document, "name", given.name());
        put(document, "description", given.description());
        put(document, "config", given.config());
        put(document, "priority", given.priority());
        put(document, "trigger", given.trigger());
        put(document, "tags", given.tags());
        put(document, "external_id", given.externalId());
        put(document, "external_id_policy", given.externalIdPolicy());
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
