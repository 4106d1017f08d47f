package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.json.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Recipes over HTTP: kept, run, changed, saved from runs. */
@Breadth.Spread
class RecipeApiTest {

    private static final String RECIPE = """
            {"name": "%s", "goal": "Greet", "inputs": {"who": {"type": "string"}, "times": {"type": "integer",
              "default": 2}}, "config": {"max_attempts": 2, "budget": {"hard_limit_usd": 1.5}},
             "plan": {"strategy": "sequential", "tasks": [
              {"id": "greet", "title": "Greet", "success_criteria": "polite", "depends_on": ["think"],
               "steps": [{"tool": "echo", "input": {"to": "${ .inputs.who }", "n": "${ .inputs.times }"}}]},
              {"id": "think", "title": "Think", "description": "first", "trigger_rule": "all_done",
               "steps": [{"tool": "noop"}]}]}, "output": "${ .tasks.greet.output }"}""";

    @TempDir
    private static Path folder;

    private static ApiServer api;

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    private static JsonNode made(String name) {
        ApiServer.Answer answer = api.post("/api/v1/recipes", RECIPE.formatted(name));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        assertThat(answer.header("Location")).isEqualTo("/api/v1/recipes/" + answer.json().get("id").stringValue());
        return answer.json();
    }

    private static ApiServer.Answer run(JsonNode recipe, String body, String... headers) {
        return api.post("/api/v1/recipes/" + recipe.get("id").stringValue() + "/run", body, headers);
    }

    private static List<String> pointers(ApiServer.Answer answer) {
        return answer.json().get("problems").valueStream()
                .map(each -> each.get("code").stringValue() + " " + each.get("pointer").stringValue()).toList();
    }

    @Test
    void isRunWithItsParameters() {
        JsonNode recipe = made("parameters");

        ApiServer.Answer answer = run(recipe, """
                {"inputs": {"who": "Ann"}, "name": "mine", "priority": 7, "tags": ["t"], "external_id": "e-1",
                 "config": {"max_attempts": 1}}""");

        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        JsonNode run = api.awaitState(answer.json().get("id").stringValue(), "completed");
        assertThat(run.get("output"))
                .isEqualTo(Json.read("{\"to\": \"Ann\", \"n\": 2}".getBytes(StandardCharsets.UTF_8)));
        assertThat(run.get("name").stringValue()).isEqualTo("mine");
        assertThat(run.get("priority").intValue()).isEqualTo(7);
        assertThat(run.get("max_attempts").intValue()).isEqualTo(1);
        assertThat(run.at("/config/budget/hard_limit_usd").decimalValue()).isEqualByComparingTo("1.5");
        assertThat(run.get("recipe_id")).isEqualTo(recipe.get("id"));
        assertThat(run.get("recipe_version").intValue()).isEqualTo(1);
    }

    @Test
    void isNamedInsteadOfAPlan() {
        JsonNode recipe = made("by name");
        for (String named : List.of("by name", recipe.get("id").stringValue(),
                "rec_" + recipe.get("id").stringValue())) {
            ApiServer.Answer answer =
                    api.post("/api/v1/runs", "{\"recipe\": \"" + named + "\", \"input\": {\"who\": \"B\"}}");
            assertThat(answer.status()).as(answer.text()).isEqualTo(201);
            assertThat(answer.json().get("state").stringValue()).isEqualTo("created");
            assertThat(answer.json().get("name").stringValue()).isEqualTo("by name");
        }
        assertThat(pointers(api.post("/api/v1/runs", "{\"recipe\": \"none such\"}")))
                .containsExactly("UNKNOWN_REFERENCE /recipe");
        assertThat(pointers(api.post("/api/v1/runs", "{\"recipe\": \"by name\", \"plan\": {\"tasks\": []}}")))
                .contains("INVALID_VALUE /plan");
    }

    @Test
    void invalidRecipeRunNamesThePosition() {
        JsonNode recipe = made("wrong");

        assertThat(pointers(run(recipe, "{}"))).containsExactly("INPUT_MISSING /inputs/who");
        assertThat(pointers(run(recipe, "{\"inputs\": {\"who\": 1, \"other\": 2}, \"nonsense\": 1}")))
                .containsExactlyInAnyOrder("INPUT_INVALID /inputs/who", "INPUT_UNKNOWN /inputs/other",
                        "UNKNOWN_KEY /nonsense");
        assertThat(pointers(run(recipe, "{\"inputs\": {\"who\": \"A\"}, \"config\": {\"max_attempts\": 0}}")))
                .containsExactly("OUT_OF_RANGE /config/max_attempts");
        assertThat(run(recipe, "{\"version\": 9}").json().get("code").stringValue())
                .isEqualTo("RECIPE_VERSION_NOT_FOUND");
    }

    @Test
    void isCheckedAsAMissionIsWhenItIsKept() {
        ApiServer.Answer answer = api.post("/api/v1/recipes", """
                {"name": "bad", "start": true, "input": {}, "plan": {"tasks": [
                  {"id": "a", "depends_on": ["b"], "steps": [{"tool": "none.such"}]}]}}""");

        assertThat(answer.status()).isEqualTo(422);
        assertThat(pointers(answer)).containsExactlyInAnyOrder("UNKNOWN_KEY /start", "UNKNOWN_KEY /input",
                "UNKNOWN_TOOL /plan/tasks/0/steps/0/tool", "DEPENDENCY_UNKNOWN /plan/tasks/0/depends_on/0");
        assertThat(api.post("/api/v1/recipes", RECIPE.formatted(UUID.randomUUID())).status()).isEqualTo(422);
    }

    private static final String CLAIM_TURNS =
            "{\"worker_id\": \"w\", \"tools\": [\"agent.turn\"], \"max\": 1, \"wait_ms\": %d}";

    @Test
    void changesMakeVersionsAndTheOldOnesStay() {
        JsonNode recipe = made("versions");
        String path = "/api/v1/recipes/" + recipe.get("id").stringValue();
        String changed = RECIPE.formatted("versions").replace("\"default\": 2", "\"default\": 3");
        for (int again = 0; again < 2; again++) {
            ApiServer.Answer answer = api.send("PUT", path, changed.getBytes(StandardCharsets.UTF_8), "Content-Type",
                    "application/json");
            assertThat(answer.status()).as(answer.text()).isEqualTo(200);
            assertThat(answer.json().get("version").intValue()).isEqualTo(2);
        }

        assertThat(api.get(path + "/versions").json().get("items").valueStream()
                .map(each -> each.get("version").intValue())).containsExactly(2, 1);
        assertThat(api.get(path + "?version=1").json().at("/inputs/times/default").intValue()).isEqualTo(2);
        String run = run(recipe, "{\"version\": 1, \"inputs\": {\"who\": \"A\"}}").json().get("id").stringValue();
        assertThat(api.awaitState(run, "completed").at("/output/n").intValue()).isEqualTo(2);
        assertThat(api.send("DELETE", path, null).status()).isEqualTo(204);
        assertThat(api.get(path).json().get("code").stringValue()).isEqualTo("RECIPE_NOT_FOUND");
        assertThat(api.run(run).get("state").stringValue()).isEqualTo("completed");
    }

    @Test
    void inputsKeepTheirDeclaredOrder() {
        String mission = """
                {"name": "ordered", "inputs": {"to": {"type": "string"}, "subject": {"type": "string"}, "a": {"type": "string"}},
                 "plan": {"tasks": [{"id": "a", "steps": [{"tool": "echo"}]}]}}""";
        String path = "/api/v1/recipes/" + api.post("/api/v1/recipes", mission).json().get("id").stringValue();
        assertThat(api.get(path).json().get("inputs").propertyNames()).containsExactly("to", "subject", "a");
        assertThat(api.get("/api/v1/recipes?name=ordered").json().at("/items/0/inputs").propertyNames())
                .containsExactly("to", "subject", "a");

        String other = mission.replace("\"to\": {\"type\": \"string\"}, ", "").replace("\"a\": {\"type\": \"string\"}}",
                "\"a\": {\"type\": \"string\"}, \"to\": {\"type\": \"string\"}}");
        assertThat(
                api.send("PUT", path, other.getBytes(StandardCharsets.UTF_8), "Content-Type", "application/json").json()
                        .get("version").intValue())
                .as("another order is another version").isEqualTo(2);
        assertThat(api.get(path).json().get("inputs").propertyNames()).containsExactly("subject", "a", "to");
        assertThat(api.get(path + "?version=1").json().get("inputs").propertyNames())
                .containsExactly("to", "subject", "a");
    }

    @Test
    void namesAreUniqueAndListed() {
        made("list a");
        made("list b");

        assertThat(api.post("/api/v1/recipes", RECIPE.formatted("list a")).json().get("code").stringValue())
                .isEqualTo("RECIPE_NAME_TAKEN");
        assertThat(api.get("/api/v1/recipes?name=list%20b").json().get("items")).hasSize(1);
        JsonNode first = api.get("/api/v1/recipes?limit=1").json();
        assertThat(first.get("items")).hasSize(1);
        assertThat(api.get("/api/v1/recipes?limit=500&cursor=" + first.get("next_cursor").stringValue()).json()
                .get("items").valueStream().map(each -> each.get("name").stringValue()).toList())
                .isSorted().doesNotContain(first.at("/items/0/name").stringValue()).contains("list b");
    }

    @Test
    void aCompletedRunIsSavedWithItsParametersAndWithoutItsResults() {
        JsonNode recipe = made("original");
        String run = run(recipe, "{\"inputs\": {\"who\": \"Ann\", \"times\": 5}}").json().get("id").stringValue();
        api.awaitState(run, "completed");

        ApiServer.Answer answer = api.post("/api/v1/runs/" + run + "/save-as-recipe", "{\"name\": \"routine\"}");

        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        JsonNode saved = answer.json();
        assertThat(saved.at("/inputs/who").toString()).isEqualTo("{\"type\":\"string\",\"default\":\"Ann\"}");
        assertThat(saved.at("/inputs/times/default").intValue()).isEqualTo(5);
        assertThat(saved.get("originated_from").stringValue()).isEqualTo(run);
        assertThat(saved.get("tags").toString()).isEqualTo("[\"from_mission\",\"auto_generated\"]");
        assertThat(saved.get("template_id").stringValue()).startsWith("mission-" + run.substring(0, 8) + "-");
        assertThat(saved.get("description").stringValue()).isEqualTo("Greet");
        assertThat(saved.at("/execution_config/mode").stringValue()).isEqualTo("sequential");
        assertThat(saved.at("/execution_config/budget/hard_limit_usd").decimalValue()).isEqualByComparingTo("1.5");
        JsonNode lineage = saved.at("/execution_config/originated_from");
        JsonNode ended = api.run(run);
        assertThat(lineage.get("mission_run_id").stringValue()).isEqualTo(run);
        assertThat(lineage.get("actual_cost").decimalValue())
                .isEqualByComparingTo(ended.get("total_cost").decimalValue());
        assertThat(lineage.get("actual_tokens").longValue()).isEqualTo(ended.get("total_tokens").longValue());
        assertThat(lineage.get("actual_duration_ms").longValue()).isEqualTo(ended.get("duration_ms").longValue());
        assertThat(lineage.get("completed_at")).isEqualTo(ended.get("completed_at"));
        assertThat(saved.at("/steps/0/pass_to").stringValue()).isEqualTo(saved.at("/steps/1/step_id").stringValue());
        assertThat(saved.at("/steps/1/pass_to").isNull()).isTrue();
        assertThat(saved.at("/steps/0/step_id").stringValue()).isEqualTo("think");
        assertThat(saved.at("/steps/0/error_handling/on_failure").stringValue()).isEqualTo("continue");
        assertThat(saved.at("/steps/1/prompt_template").stringValue()).isEqualTo("Greet\n\nSuccess criteria: polite");
        assertThat(saved.at("/steps/1/depends_on").toString()).isEqualTo("[\"think\"]");
        ApiServer.Answer again = api.post("/api/v1/runs/" + run + "/save-as-recipe", "{\"name\": \"routine\"}");
        assertThat(again.status()).isEqualTo(200);
        assertThat(again.json()).isEqualTo(saved);

        String second = run(saved, "{\"inputs\": {\"times\": 6}}").json().get("id").stringValue();
        JsonNode output = api.awaitState(second, "completed").get("output");
        assertThat(output.get("to").stringValue() + output.get("n")).isEqualTo("Ann6");
    }

    @Test
    void theAgentsOfARunAndTheirModelsAreSaved() {
        String prices =
                "{\"items\": [{\"kind\": \"model\", \"name\": \"small\", \"usd_per_million_tokens\": {\"input\": 0, \"output\": 0}}]}";
        api.send("PUT", "/api/v1/prices", prices.getBytes(StandardCharsets.UTF_8), "Content-Type", "application/json");
        JsonNode agent = api.post("/api/v1/agents",
                "{\"slug\": \"keeper\", \"capabilities\": [\"writing\"], \"model\": \"small\"}").json();
        api.post("/api/v1/dispatch/claim", CLAIM_TURNS.formatted(0));
        String run = api.create("""
                {"name": "staffed", "start": true, "plan": {"tasks": [{"id": "chosen", "task_type": "writing"},
                 {"id": "named", "suggested_agent": {"agent_name": "keeper"}, "steps": [{"name": "e", "tool": "echo"}]},
                 {"id": "hired", "steps": [{"name": "e", "tool": "echo"}],
                  "suggested_agent": {"type": "contractor", "agent_name": "temp", "model": "small"}}]}}""");
        JsonNode turn = api.post("/api/v1/dispatch/claim", CLAIM_TURNS.formatted(20_000)).json().at("/items/0");
        api.post("/api/v1/dispatch/complete", "{\"worker_id\": \"w\", \"items\": [{\"step_id\": " + turn.get("step_id")
                + ", \"lease_epoch\": " + turn.get("lease_epoch") + ", \"output\": \"done\"}]}");
        api.awaitState(run, "completed");

        JsonNode saved = api.post("/api/v1/runs/" + run + "/save-as-recipe", "{\"name\": \"staffed again\"}").json();

        assertThat(saved.get("steps").valueStream().map(step -> step.get("step_id").stringValue() + " "
                + step.get("agent_id") + " " + step.get("model_override"))).containsExactly(
                        "chosen " + agent.get("id") + " \"small\"", "named " + agent.get("id") + " \"small\"",
                        "hired null \"small\"");
        assertThat(saved.at("/mission/plan/tasks/0/suggested_agent/agent_id")).isEqualTo(agent.get("id"));
    }

    @Test
    void onlyWhatHasCompletedIsSaved() {
        String run = api.create(ApiServer.WAITS);

        ApiServer.Answer answer = api.post("/api/v1/runs/" + run + "/save-as-recipe", "{}");

        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.json().get("current_state").stringValue()).isEqualTo("created");
    }

    @Test
    void isDoneOnceUnderAKey() {
        String body = RECIPE.formatted("keyed");
        ApiServer.Answer first = api.post("/api/v1/recipes", body, "Idempotency-Key", "r1");
        ApiServer.Answer second = api.post("/api/v1/recipes", body, "Idempotency-Key", "r1");
        assertThat(second.status()).as(second.text()).isEqualTo(200);
        assertThat(second.json()).isEqualTo(first.json());

        JsonNode run = run(first.json(), "{\"inputs\": {\"who\": \"A\"}}", "Idempotency-Key", "r2").json();
        assertThat(run(first.json(), "{\"inputs\": {\"who\": \"A\"}}", "Idempotency-Key", "r2").json().get("id"))
                .isEqualTo(run.get("id"));
    }

    @Test
    void aRunStartsByItselfAtItsTime() {
        String later = api.create(
                "{\"name\": \"later\", \"start_at\": \"2126-01-01T00:00:00+01:00\", \"plan\": {\"tasks\": []}}");
        assertThat(api.run(later).get("state").stringValue()).isEqualTo("created");
        assertThat(api.run(later).get("start_at").stringValue()).isEqualTo("2125-12-31T23:00:00.000Z");
        JsonNode why = api.get("/api/v1/runs/" + later + "/explain").json();
        assertThat(why.toString()).contains("STARTS_LATER", "2125-12-31T23:00:00");

        String past =
                api.create("{\"name\": \"past\", \"start_at\": \"2020-01-01T00:00:00Z\", \"plan\": {\"tasks\": []}}");
        api.awaitState(past, "completed");
        assertThat(pointers(
                api.post("/api/v1/runs", "{\"name\": \"x\", \"start_at\": \"tomorrow\", \"plan\": {\"tasks\": []}}")))
                .containsExactly("INVALID_VALUE /start_at");
        assertThat(api.post("/api/v1/runs/" + later + "/cancel", "{}").json().get("state").stringValue())
                .isEqualTo("cancelled");
    }
}
