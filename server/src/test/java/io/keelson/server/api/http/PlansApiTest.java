package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer.Answer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** From a goal to a plan, over HTTP. */
@Breadth.Spread
class PlansApiTest {
    private static final String API = "/api/v1";

    /** A planner that answers one task of that estimate. */
    private static final String GOAL = """
            {"goal": "Say it", "start": true, "inputs": {"what": {"default": "hello"}},
             "config": {"autonomy": %s, "planner": {"tool": "echo", "input": {"tasks": [
               {"id": "say", "estimated_cost": %s,
                "steps": [{"tool": "echo", "input": {"said": "$${ .inputs.what }"}}]}]}}},
             "output": "${ .tasks.say.output.said }"}""";

    private static ApiServer api;

    @BeforeAll
    static void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    @Test
    void aGoalBecomesAPlanThatAHumanApproves() {
        String run = api.create(GOAL.formatted("{}", "0.5"));
        JsonNode planned = api.awaitState(run, "awaiting_approval");
        assertThat(planned.get("plan_version").asInt()).isEqualTo(1);
        assertThat(planned.at("/plan/tasks/0/temp_id").asString()).isEqualTo("say");
        assertThat(planned.get("name").asString()).isEqualTo("Say it");
        JsonNode plans = api.get(API + "/runs/" + run + "/plans").json().get("items");
        assertThat(plans).hasSize(1);
        assertThat(plans.get(0).get("in_force").asBoolean()).isTrue();
        api.post(API + "/runs/" + run + "/approve", "");
        assertThat(api.awaitState(run, "completed").get("output").asString()).isEqualTo("hello");
    }

    @Test
    void aPlanCannotNameAToolThatOnlyAnotherWorkspaceServes() {
        api.post(API + "/dispatch/claim", """
                {"worker_id": "theirs", "tools": ["their.tool"], "max": 1, "wait_ms": 0}""", "Authorization",
                api.stranger());
        String run = api
                .create("""
                {"goal": "Say it", "start": true, "config": {"autonomy": {"level": "full_auto"},
                  "planner": {"tool": "echo", "input": {"tasks": [{"id": "say", "steps": [{"tool": "their.tool"}]}]}}}}""");
        assertThat(api.awaitState(run, "failed").get("error_message").asString()).contains("their.tool");
    }

    @Test
    void thePlannersWorkIsNoTaskOfThePlan() {
        String run = api.create(GOAL.formatted("{\"level\": \"full_auto\"}", "0.5"));
        JsonNode ended = api.awaitState(run, "completed");
        assertThat(List.of(ended.get("task_count").asInt(), ended.get("tasks_completed").asInt(),
                ended.get("agent_count").asInt())).containsExactly(1, 1, 1);
        assertThat(api.get(API + "/board/tasks?source_type=orchestration&limit=1").json()
                .at("/items/0/planning_data/task_progress/total").asInt()).isEqualTo(1);
        assertThat(ended.get("steps_total").asInt()).as("the step of the planner is one").isEqualTo(2);
    }

    @ParameterizedTest(name = "{0}, a plan of {1}: {2}")
    @CsvSource(delimiter = '|', value = {"{\"level\": \"full_auto\"} | 900 | completed",
            "{\"level\": \"autonomous\", \"auto_approve_threshold\": 2} | 2 | completed",
            "{\"level\": \"autonomous\", \"auto_approve_threshold\": 2} | 2.5 | awaiting_approval",
            "{\"level\": \"autonomous\"} | 0.1 | awaiting_approval"})
    void estimateDecidesWhetherApprovalIsRequired(String autonomy, String estimate, String state) {
        String run = api.create(GOAL.formatted(autonomy, estimate));
        api.awaitState(run, state);
        assertThat(api.get(API + "/runs/" + run + "/events?limit=100").json().get("items").valueStream()
                .filter(event -> event.get("event_type").asString().equals("run_plan_ready"))
                .map(event -> event.at("/payload/estimated_cost").asString())).containsExactly(estimate);
        api.post(API + "/runs/" + run + "/cancel", "");
    }

    /** The planner's first answer has a task with an unknown tool; the second one, after the problems, has not. */
    @Test
    void plannerGetsThePlansProblems() {
        String run = api
                .create("""
                {"goal": "Mend it", "start": true, "config": {"autonomy": {"level": "full_auto"}, "planner": {
                   "tool": "json.transform", "input": {"input": "${ .failure }", "expression":
                     "if .refused then {tasks: [{id: \\"mended\\", title: .refused.message, steps: [{tool: \\"noop\\"}]}]} else {tasks: [{id: \\"a\\", steps: [{tool: \\"teleport\\"}]}]} end"}}}}""");
        JsonNode ended = api.awaitState(run, "completed");
        assertThat(ended.get("plan_version").asInt()).isEqualTo(1);
        assertThat(ended.at("/plan/tasks/0/title").asString()).contains("teleport", "/plan/tasks/0/steps/0/tool");
        assertThat(api.get(API + "/runs/" + run + "/tasks").json().get("items").valueStream()
                .map(task -> task.get("key").asString())).containsExactly(".planning-1", ".planning-2", "mended");
        assertThat(api.get(API + "/board/tasks?run_id=" + run).json().get("items").valueStream()
                .map(task -> task.get("title").asString())).as("the planner's task is not on the board").hasSize(1)
                .noneMatch("Make the plan"::equals);
        assertThat(api.get(API + "/reports?run_id=" + run).json().get("items").valueStream()
                .map(report -> report.get("title").asString())).noneMatch("Make the plan"::equals);
    }

    @Test
    void aPlannerThatLearnsNothingFailsTheRun() {
        String run = api
                .create("""
                {"goal": "Never", "start": true,
                 "config": {"planner": {"tool": "noop", "input": {"output": {"tasks": []}, "tokens": 7, "cost": 0.25}}}}""");
        JsonNode ended = api.awaitState(run, "failed");
        assertThat(ended.get("error_code").asString()).isEqualTo("PLANNING_FAILED");
        assertThat(ended.get("error_message").asString()).contains("3 tries", "at least one task");
        assertThat(ended.get("total_tokens").asInt()).as("each try is a step that costs").isEqualTo(21);
        assertThat(ended.get("credits_charged").decimalValue()).isEqualByComparingTo("0.75");
        assertThat(api.get(API + "/runs/" + run + "/plans").json().get("items")).isEmpty();
    }

    @Test
    void unpricedFirstPlanFailsAtOnceWithARemedy() {
        String run = api
                .create("""
                {"goal": "Dear", "start": true, "config": {"autonomy": {"level": "full_auto"}, "planner": {"tool": "echo",
                  "input": {"tasks": [{"id": "think", "suggested_model": "first-unpriced", "steps": [{"tool": "noop"}]}]}}}}""");
        JsonNode ended = api.awaitState(run, "failed");
        assertThat(ended.get("error_code").asString()).isEqualTo("NO_PRICE");
        assertThat(ended.get("error_message").asString()).contains("first-unpriced", "keelson prices set model",
                "retry the run");
        assertThat(tasks(run)).as("the planner is not asked again").containsExactly(".planning-1");
        price("first-unpriced");
        api.post(API + "/runs/" + run + "/retry", "");
        api.awaitState(run, "completed");
    }

    @Test
    void aNewPlanWithoutAPriceWaitsInTheInboxUntilThereIsOne() {
        String run = api.create("""
                {"name": "dear again", "start": true, "config": {"planner": {"tool": "echo", "input": {"tasks": [
                   {"id": "think", "suggested_model": "next-unpriced", "steps": [{"tool": "noop"}]}]}}},
                 "plan": {"tasks": [{"id": "bad", "steps": [{"tool": "fail", "input": {"class": "permanent"}}]}]}}""");
        api.awaitState(run, "escalated");
        JsonNode item = api.get(API + "/inbox?run_id=" + run).json().at("/items/0");
        assertThat(item.get("question").asString()).contains("next-unpriced", "keelson prices set model");
        assertThat(item.get("on_accept").asString()).contains("prices");
        assertThat(item.at("/data/plan/tasks/0/suggested_model").asString()).isEqualTo("next-unpriced");
        price("next-unpriced");
        api.post(item.at("/links/accept").asString(), "{}");
        api.awaitState(run, "completed");
        assertThat(tasks(run)).contains(".plan-1", "think").doesNotContain(".plan-2");
    }

    private static void price(String model) {
        assertThat(api.send("PUT", API + "/prices",
                """
                {"items": [{"kind": "model", "name": "%s", "usd_per_million_tokens": {"input": 1, "output": 1}}]}"""
                        .formatted(model)
                        .getBytes(StandardCharsets.UTF_8),
                "Content-Type", "application/json").status()).isEqualTo(200);
    }

    private static List<String> tasks(String run) {
        return api.get(API + "/runs/" + run + "/tasks").json().get("items").valueStream()
                .map(task -> task.get("key").asString()).toList();
    }

    @Test
    void aTemplateOfTheGoalsKindIsThePlan() {
        assertThat(api.post(API + "/recipes", """
                {"name": "greeting-template", "kind": "greeting", "inputs": {"who": {"type": "string"}},
                 "plan": {"tasks": [{"id": "greet", "estimated_cost": 3,
                   "steps": [{"tool": "echo", "input": {"v": "${ .run.goal }: ${ .inputs.who }"}}]}]},
                 "output": "${ .tasks.greet.output.v }"}""").status()).isEqualTo(201);
        String asked = api.create("""
                {"goal": "Greet", "kind": "greeting", "input": {"who": "Ann"}, "start": true}""");
        api.awaitState(asked, "awaiting_approval");
        api.post(API + "/runs/" + asked + "/approve", "");
        assertThat(api.awaitState(asked, "completed").get("output").asString()).isEqualTo("Greet: Ann");
        String free = api.create("""
                {"goal": "Greet", "kind": "greeting", "input": {"who": "Bob"}, "start": true,
                 "config": {"autonomy": {"level": "autonomous", "auto_approve_threshold": 3}}}""");
        JsonNode ended = api.awaitState(free, "completed");
        assertThat(ended.get("name").asString()).isEqualTo("Greet");
        assertThat(ended.get("recipe_version").asInt()).isEqualTo(1);
        Answer missing = api.post(API + "/runs", "{\"goal\": \"Greet\", \"kind\": \"greeting\"}");
        assertThat(missing.status()).isEqualTo(422);
        assertThat(missing.text()).contains("/input");
    }

    /** Its worker may come later: nothing but a mission without a goal can never have a plan. */
    @ParameterizedTest(name = "{0} waits for {1}")
    @CsvSource(delimiter = '|', value = {"{} | plan", "{\"planner\": {\"tool\": \"late.planner\"}} | late.planner",
            "{\"replan\": {\"planner\": {\"tool\": \"later.planner\"}}} | later.planner"})
    void aGoalWaitsForTheWorkerOfItsPlanner(String config, String tool) {
        String run = api.create("""
                {"goal": "Fly", "kind": "flight", "start": true, "config": %s}""".formatted(config));
        JsonNode reasons = api.get(API + "/runs/" + run + "/explain").json().get("reasons");
        assertThat(reasons.valueStream().map(reason -> reason.get("code").asString()))
                .containsExactly("PLANNING", "MISSING_WORKER");
        assertThat(reasons.get(1).get("text").asString())
                .contains("waits for a worker that serves the planning tool '" + tool + "'");
        JsonNode claimed = api.post(API + "/dispatch/claim", """
                {"worker_id": "%s-worker", "tools": ["%1$s"], "max": 1, "wait_ms": 20000}""".formatted(tool)).json();
        JsonNode step = claimed.at("/items/0");
        assertThat(step.at("/run_id").asString()).isEqualTo(run);
        api.post(API + "/dispatch/complete", """
                {"worker_id": "%s-worker", "items": [{"step_id": "%s", "lease_epoch": %s,
                  "output": {"tasks": [{"id": "soar", "steps": [{"tool": "noop"}]}]}}]}"""
                .formatted(tool, step.get("step_id").asString(), step.get("lease_epoch").asInt()));
        assertThat(api.awaitState(run, "awaiting_approval").at("/plan/tasks/0/temp_id").asString()).isEqualTo("soar");
        api.post(API + "/runs/" + run + "/cancel", "");
    }

    @Test
    void missionThatCannotBePlannedIsRefused() {
        Answer none = api.post(API + "/runs", "{\"name\": \"Fly\", \"kind\": \"flight\"}");
        assertThat(none.status()).isEqualTo(422);
        assertThat(none.text()).contains("PLAN_REQUIRED", "a plan, a goal, a recipe or an agent_slug is required");
        Answer kept = api.post(API + "/recipes", "{\"name\": \"fly\", \"goal\": \"Fly\"}");
        assertThat(kept.text()).contains("PLAN_REQUIRED", "requires a plan");
        Answer both = api.post(API + "/runs", """
                {"goal": "Fly", "config": {"planner": {"tool": "echo"}, "replan": {"planner": {"tool": "echo"}}}}""");
        assertThat(both.text()).contains("/config/replan/planner");
    }

    /** A look at a mission says what making a run of it says. */
    @ParameterizedTest
    @ValueSource(strings = {"{\"goal\": \"Fly\"}", "{\"name\": \"a\"}", "{\"recipe\": \"none\"}",
            "{\"goal\": \"Fly\", \"kind\": \"flight\", \"input\": {\"to\": 1}}",
            "{\"name\": \"a\", \"inputs\": {\"n\": {\"type\": \"integer\"}}, \"plan\": {\"tasks\": []}}",
            "{\"plan\": {\"tasks\": [{\"id\": \"a\", \"steps\": [{\"tool\": \"teleport\"}]}]}, \"external_id\": 5}",
            "{\"goal\": \"Many\", \"start\": true, \"config\": {\"planner\": {\"tool\": \"unserved\"}}}",
            "{\"goal\": \"Dear\", \"plan\": {\"total_estimated_cost\": 900000000, \"tasks\": [{\"id\": \"a\", \"steps\": [{\"tool\": \"noop\"}]}]}}",
            "{", "[]"})
    void validationAgreesWithCreation(String mission) {
        Answer valid = api.post(API + "/missions/validate", mission);
        Answer made = api.post(API + "/runs", mission);
        assertThat(valid.status()).as(valid.text()).isEqualTo(made.status() == 201 ? 200 : made.status());
        assertThat(valid.json().path("problems")).isEqualTo(made.json().path("problems"));
        assertThat(valid.json().path("valid").asBoolean(false)).isEqualTo(made.status() == 201);
    }

    @Test
    void validationNamesThePlansSourceAndCreatesNothing() {
        long before = runs();
        assertThat(api.post(API + "/missions/validate", "{\"goal\": \"Fly\"}").json().get("plan").asString())
                .isEqualTo("planner");
        assertThat(api.post(API + "/recipes", """
                {"name": "ship", "kind": "shipping", "inputs": {"to": {"type": "string"}},
                 "plan": {"tasks": [{"id": "go", "steps": [{"tool": "noop"}]}]}}""").status()).isEqualTo(201);
        JsonNode template = api.post(API + "/missions/validate", """
                {"goal": "Ship it", "kind": "shipping", "input": {"to": "Bergen"}, "external_id": "once"}""").json();
        assertThat(template.get("plan").asString()).isEqualTo("recipe");
        assertThat(template.get("tasks").asInt()).isEqualTo(1);
        assertThat(template.get("recipe_version").asInt()).isEqualTo(1);
        assertThat(api.post(API + "/missions/validate", "{\"recipe\": \"ship\"}").text())
                .contains("INPUT_MISSING", "/input/to");
        assertThat(api.post(API + "/missions/validate", """
                {"goal": "Ship it", "kind": "shopping", "input": {"to": "Bergen"}}""").text())
                .contains("INPUT_UNKNOWN", "no recipe of the kind 'shopping'");
        assertThat(runs()).isEqualTo(before);
        api.create("{\"goal\": \"Once\", \"external_id\": \"once\"}");
        assertThat(api.post(API + "/missions/validate", "{\"goal\": \"Twice\", \"external_id\": \"once\"}").text())
                .contains("EXTERNAL_ID_TAKEN");
    }

    private static long runs() {
        return api.database().withConnection(c -> {
            try (var s = c.createStatement(); var row = s.executeQuery("select count(*) from orchestration_runs")) {
                row.next();
                return row.getLong(1);
            }
        });
    }

    @Test
    void earlierPlansAreKept() {
        String run = api.create("""
                {"name": "again", "start": true, "config": {"planner": {"tool": "plan.fallback", "input": {
                   "failure": "${ .failure }", "rules": [
                   {"when_failed": "*", "tasks": [{"id": "other", "steps": [{"tool": "noop"}]}]}]}}},
                 "plan": {"tasks": [{"id": "bad", "steps": [{"tool": "fail", "input": {"class": "permanent"}}]}]}}""");
        api.awaitState(run, "completed");
        JsonNode plans = api.get(API + "/runs/" + run + "/plans").json().get("items");
        assertThat(plans.valueStream().map(plan -> plan.get("version").asInt() + " "
                + plan.at("/plan/tasks/0/temp_id").asString() + " " + plan.get("in_force").asBoolean() + " "
                + plan.get("replaced_at").isNull()))
                .containsExactly("1 bad false false", "2 other true true");
        assertThat(api.get(API + "/runs/" + UUID.randomUUID() + "/plans").status()).isEqualTo(404);
    }
}
