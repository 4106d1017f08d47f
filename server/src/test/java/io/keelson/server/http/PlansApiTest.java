package io.keelson.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.http.ApiServer.Answer;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** From a goal to a plan, over HTTP. */
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

    @ParameterizedTest(name = "{0}, a plan of {1}: {2}")
    @CsvSource(delimiter = '|', value = {"{\"level\": \"full_auto\"} | 900 | completed",
            "{\"level\": \"autonomous\", \"auto_approve_threshold\": 2} | 2 | completed",
            "{\"level\": \"autonomous\", \"auto_approve_threshold\": 2} | 2.5 | awaiting_approval",
            "{\"level\": \"autonomous\"} | 0.1 | awaiting_approval"})
    void theEstimateSaysWhetherAHumanIsAsked(String autonomy, String estimate, String state) {
        String run = api.create(GOAL.formatted(autonomy, estimate));
        api.awaitState(run, state);
        assertThat(api.get(API + "/runs/" + run + "/events?limit=100").json().get("items").valueStream()
                .filter(event -> event.get("event_type").asString().equals("run_plan_ready"))
                .map(event -> event.at("/payload/estimated_cost").asString())).containsExactly(estimate);
        api.post(API + "/runs/" + run + "/cancel", "");
    }

    /** Its answer has a task that no one can do, until it is told what was wrong with it. */
    @Test
    void whatIsWrongWithAPlanIsToldToThePlanner() {
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
                .map(task -> task.get("title").asString())).as("the planner's work is nobody's task").hasSize(1)
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

    @Test
    void withoutAnybodyToPlanAGoalIsRefused() {
        Answer none = api.post(API + "/runs", "{\"goal\": \"Fly\", \"kind\": \"flight\"}");
        assertThat(none.status()).isEqualTo(422);
        assertThat(none.text()).contains("PLAN_REQUIRED", "no planner and no recipe of the kind 'flight'");
        Answer both = api.post(API + "/runs", """
                {"goal": "Fly", "config": {"planner": {"tool": "echo"}, "replan": {"planner": {"tool": "echo"}}}}""");
        assertThat(both.text()).contains("/config/replan/planner");
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
