package io.keelson.server.mission.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.plan.PlanProblem;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The published schemas and the reader know the same keys: what the reader knows and the schema does not is refused as
 * unknown, and every key of the schema, set to its own example, changes what will be done, or is refused as not
 * supported, or says of itself that it is only stored.
 */
class MissionSchemaTest {
    private static final JsonNode MISSION = schema("mission");
    private static final JsonNode CONFIG = schema("config");
    private static final String LATER = "takes effect in a later release";
    private static final String BASE = """
            {"name": "base", "config": {"autonomy": {"level": "autonomous"}}, "inputs": {"path": {"default": "."}},
             "plan": {"total_estimated_cost": 4, "tasks": [
              {"id": "first", "steps": [{"tool": "noop"}]}, {"id": "second", "steps": [{"tool": "noop"}]},
              {"id": "third", "depends_on": [{"task": "second"}], "suggested_agent": {},
               "steps": [{"tool": "noop", "retry": {}}]}]}}""";
    private static final String TASK = "/plan/tasks/2";

    /** A mission of contractors, for keys that only agents heed. */
    private static final String AGENTS =
            """
            {"name": "agents", "config": {"autonomy": {"level": "autonomous"}}, "plan": {"tasks": [
              {"id": "first", "task_type": "research", "suggested_agent": {"type": "contractor", "tools": ["noop", "process.run"]}},
              {"id": "second", "task_type": "writing", "suggested_agent": {"type": "contractor"}},
              {"id": "third", "task_type": "review", "suggested_agent": {"type": "contractor", "tools": ["noop", "process.run"]}}]}}""";
    private static final Set<String> OF_AGENTS =
            Set.of("allowed_tools", "denied_tools", "escalate_model", "researcher", "writer", "reviewer");
    /** Keys that cannot stand beside another. */
    private static final Map<String, String> INSTEAD_OF = Map.of("temp_id", "id", "kind", "tool");

    /** Keys whose example refers to what only a server has, and the code that says so. */
    private static final Map<String, String> UNKNOWN_HERE =
            Map.of("recipe", "RECIPE_UNRESOLVED", "runs_on", "MODEL_NOT_CONFIGURED");

    static Stream<Arguments> keys() {
        return Stream.of(keys("", MISSION), keys("/plan", MISSION.at("/$defs/plan")),
                keys(TASK, MISSION.at("/$defs/task")),
                keys(TASK + "/suggested_agent", MISSION.at("/$defs/task/properties/suggested_agent")),
                keys(TASK + "/depends_on/0", MISSION.at("/$defs/dependency")),
                keys(TASK + "/steps/0", MISSION.at("/$defs/step")),
                keys(TASK + "/steps/0/retry", MISSION.at("/$defs/retry")), keys("/config", CONFIG))
                .flatMap(List::stream);
    }

    @ParameterizedTest(name = "{0}/{1}")
    @MethodSource("keys")
    void everyKeyOfTheSchemaMeansSomething(String at, String key, JsonNode schema) {
        ObjectNode document = (ObjectNode) JsonMapper.shared().readTree(OF_AGENTS.contains(key) ? AGENTS : BASE);
        String description = schema.path("description").asString("");
        if (description.contains("to an agent with its turn") || at.endsWith("/suggested_agent")
                || at.equals(TASK) && key.equals("cache")) {
            ((ObjectNode) document.at(TASK)).remove("steps");
        }
        if (description.startsWith("Of a contractor")) {
            ((ObjectNode) document.at(at)).put("type", "contractor");
        }
        if (key.equals("label")) {
            ((ObjectNode) document.at(at)).put("for_each", "${ [1] }");
        }
        if (key.equals("switch") || key.equals("group")) {
            ((ObjectNode) document.at(TASK)).remove(List.of("steps", "suggested_agent"));
        }
        CheckedMission before = Missions.json(document.toString());
        ObjectNode parent = (ObjectNode) (at.isEmpty() ? document : document.at(at));
        if (INSTEAD_OF.containsKey(key)) {
            parent.remove(INSTEAD_OF.get(key));
        }
        parent.set(key, example(schema));
        ReadResult<CheckedMission> result = Missions.read(document.toString(), Format.JSON);

        if (UNKNOWN_HERE.containsKey(key)) {
            assertThat(Missions.problems(result)).extracting(PlanProblem::code).containsExactly(UNKNOWN_HERE.get(key));
        } else if (description.startsWith("Not in this release")) {
            assertThat(Missions.problems(result)).extracting(PlanProblem::code, PlanProblem::pointer)
                    .containsExactly(org.assertj.core.groups.Tuple.tuple("NOT_SUPPORTED_YET", at + "/" + key));
        } else {
            CheckedMission after = Missions.done(result);
            boolean stored = description.startsWith("Stored") || description.contains(LATER) || schema.has("not")
                    || key.equals("replay"); // the gateway reads it as it is stored
            assertThat(after.equals(before)).isEqualTo(description.endsWith("is not read."));
            boolean ofPlan = (at + "/" + key).startsWith("/plan") || key.equals("ladder")
                    || OF_AGENTS.contains(key) || key.equals("untrusted_input");
            assertThat(after.plan().equals(before.plan())).isEqualTo(stored || !ofPlan);
        }
    }

    static Stream<Arguments> configKeys() {
        List<Arguments> leaves = new ArrayList<>();
        leaves("/config", CONFIG, leaves);
        return leaves.stream();
    }

    /**
     * What the config's schema does not say to come later, or to have one possible value, changes what the core does.
     * Webhooks, the board and the gateway read their parts of it as they are stored.
     */
    @ParameterizedTest(name = "{0}")
    @MethodSource("configKeys")
    void everyConfigKeyHasAnEffectOrIsReportedAsWithout(String pointer, JsonNode schema, boolean later) {
        String[] path = pointer.substring(1).split("/");
        String base = OF_AGENTS.contains(path[path.length - 1]) ? AGENTS : BASE;
        ObjectNode document = (ObjectNode) JsonMapper.shared().readTree(base);
        ObjectNode parent = document;
        JsonNode around = CONFIG;
        for (int i = 0; i < path.length - 1; i++) {
            parent = parent.withObjectProperty(path[i]);
            around = i == 0 ? around : around.path("properties").path(path[i]);
            for (JsonNode needed : around.path("required")) {
                if (!needed.asString().equals(path[i + 1])) {
                    parent.set(needed.asString(), example(around.path("properties").path(needed.asString())));
                }
            }
        }
        String key = path[path.length - 1];
        String before = parent.isEmpty() ? base : document.toString();
        parent.set(key, example(schema));
        CheckedMission mission = Missions.json(document.toString());
        CheckedMission otherwise = Missions.json(before);

        boolean effect = !mission.policy().equals(otherwise.policy()) || !mission.plan().equals(otherwise.plan())
                || path[1].equals("notifications")
                || pointer.equals("/config/priority") || pointer.equals("/config/budget/output");
        assertThat(effect).isEqualTo(!later && !schema.has("not") && !schema.has("const"));
    }

    static Stream<Arguments> verifyKeys() {
        return keys("verify", MISSION.at("/$defs/verify")).stream();
    }

    @ParameterizedTest(name = "{0}/{1}")
    @MethodSource({"keys", "verifyKeys"})
    void everyKeyIsExplained(String at, String key, JsonNode schema) {
        assertThat(resolved(schema).path("description").asString("")).as("%s/%s", at, key).isNotBlank();
    }

    private static List<Arguments> keys(String at, JsonNode schema) {
        return schema.path("properties").properties().stream().filter(each -> !each.getKey().equals("$schema"))
                .map(each -> Arguments.of(at, each.getKey(), each.getValue())).toList();
    }

    private static void leaves(String at, JsonNode schema, List<Arguments> leaves) {
        boolean later = schema.path("description").asString("").contains(LATER);
        schema.path("properties").properties().forEach(each -> {
            JsonNode value = each.getValue();
            String description = value.path("description").asString("");
            if (value.has("properties")) {
                leaves(at + "/" + each.getKey(), value, leaves);
            } else if (!description.startsWith("Not in this release")) {
                leaves.add(Arguments.of(at + "/" + each.getKey(), value, later || description.contains(LATER)));
            }
        });
    }

    /** The key's example; of an object with keys of its own, an object with one of them. */
    private static JsonNode example(JsonNode schema) {
        JsonNode resolved = resolved(schema);
        JsonNode own = schema.path("examples").path(0);
        if (!own.isMissingNode() || resolved.has("not")) {
            return own.isMissingNode() ? JsonMapper.shared().readTree("{}") : own;
        }
        if (resolved.path("examples").path(0).isMissingNode()) {
            ObjectNode object = JsonMapper.shared().createObjectNode();
            for (var each : resolved.path("properties").properties()) {
                boolean needed = resolved.path("required").isEmpty()
                        || resolved.path("required").values().stream()
                                .anyMatch(r -> r.asString().equals(each.getKey()));
                if (needed && object.isEmpty()) {
                    object.set(each.getKey(), example(each.getValue()));
                }
            }
            return object;
        }
        return resolved.path("examples").path(0);
    }

    private static JsonNode resolved(JsonNode schema) {
        String reference = schema.path("$ref").asString("");
        if (reference.startsWith("#")) {
            JsonNode own = MISSION.at(reference.substring(1));
            return own.isMissingNode() ? CONFIG.at(reference.substring(1)) : own;
        }
        return reference.isEmpty() ? schema : CONFIG;
    }

    private static JsonNode schema(String name) {
        try (InputStream stream = MissionSchemaTest.class.getResourceAsStream("/schema/" + name + ".schema.json")) {
            return JsonMapper.shared().readTree(stream);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
