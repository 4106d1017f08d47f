package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Runs of every kind, and of each type of event of the mission schema what its payload says and who is named
 * as its actor. What takes minutes to happen, a stall, is a test of the core's.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class EveryEventTest {
    /** Type, actors that it may have, members that it has each time, members that it has at least once. */
    private static final String WANTED = """
            run_created | human | goal config_summary autonomy_level |
            run_planning_started | coordinator | | coordinator_model
            run_plan_ready | coordinator | task_count estimated_cost strategy |
            run_approved | human coordinator | approved_by modifications | reason
            run_rejected | human | rejected_by | reason
            run_started | system | |
            run_paused | human | paused_by | reason
            run_resumed | system | resumed_by |
            run_budget_warning | system | current_cost soft_limit percent_used |
            run_budget_exceeded | system | current_cost hard_limit |
            run_budget_increased | human | old_limit new_limit increased_by |
            run_completed | system | total_cost total_tokens duration_ms tasks_completed tasks_failed |
            run_failed | human system | reason total_cost | failing_task_id
            run_cancelled | human | cancelled_by tasks_remaining |
            task_created | coordinator | task_type trigger_rule depends_on |
            task_queued | system | | unblocked_by
            task_assigned | coordinator | | agent_type agent_id model board_task_id
            task_started | agent | attempt_number |
            task_continuing | agent | continuation_count tokens_this_turn |
            task_resumed | system | continuation_count |
            task_output_submitted | agent | output_ref output_summary_length tokens_used |
            task_verification_started | verifier | verifier_agent_id | verifier_model
            task_verification_passed | verifier | score | verifier_feedback
            task_verification_failed | verifier | score verifier_feedback retries_remaining |
            task_human_review_requested | system | reason | score
            task_human_approved | human | approved_by |
            task_human_rejected | human | rejected_by retries_remaining | reason
            task_retrying | system | attempt_number backoff_seconds failure_type |
            task_crashed | system | error_type error_message duration_ms |
            task_failed | system | reason total_attempts total_cost |
            task_skipped | system | skipped_because | failed_dependency_id
            task_cancelled | human system | cancelled_by |
            model_fallback | agent | task_id requested_model fallback_model reason |
            cost_snapshot | system | run_id total_cost total_tokens by_task |
            """;
    private static final String NO = "{\"verdict\": \"unsure\", \"score\": 0.5, \"feedback\": \"hm\"}";

    private final Map<String, List<JsonNode>> seen = new TreeMap<>();
    private ApiServer api;

    @BeforeAll
    void everyKindOfRun(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
        byte[] prices = """
                {"items": [{"kind": "model", "name": "large", "usd_per_million_tokens": {"input": 1, "output": 1}},
                  {"kind": "model", "name": "small", "usd_per_million_tokens": {"input": 1, "output": 1}},
                  {"kind": "model", "name": "judge", "usd_per_million_tokens": {"input": 1, "output": 1}}]}"""
                .getBytes(StandardCharsets.UTF_8);
        assertThat(api.send("PUT", "/api/v1/prices", prices, "Content-Type", "application/json").status())
                .isEqualTo(200);
        ask("/dispatch/claim", """
                {"worker_id": "w", "tools": ["test.remote"], "max": 1, "wait_ms": 0}""");
        planned("approve", "{\"reason\": \"go\"}", "completed");
        planned("reject", "{\"reason\": \"no\"}", "failed");
        judged();
        reviewed();
        turns();
        money();
        failures();
    }

    @AfterAll
    void stop() {
        api.close();
    }

    @Test
    void eachTypeHasItsMembersAndItsActor() {
        for (String line : WANTED.lines().toList()) {
            String[] cells = line.split("\\|", -1);
            String type = cells[0].strip();
            List<JsonNode> events = seen.getOrDefault(type, List.of());
            assertThat(events).as(type).isNotEmpty().allSatisfy(event -> {
                assertThat(List.of(cells[1].strip().split(" "))).as(event.toString())
                        .contains(event.get("actor_type").stringValue());
                assertThat(event.get("payload").propertyNames()).as(event.toString()).containsAll(words(cells[2]));
            });
            words(cells[3]).forEach(member -> assertThat(events).as(type + "." + member)
                    .anyMatch(event -> event.get("payload").hasNonNull(member)));
        }
    }

    @Test
    void consequencesOfARequestHaveNoPersonAsActor() {
        assertThat(seen.get("run_cancelled")).allMatch(event -> actor(event).startsWith("human "));
        assertThat(seen.get("task_cancelled")).anyMatch(event -> actor(event).startsWith("human "))
                .anyMatch(event -> actor(event).equals("system -"));
        assertThat(seen.get("step_cancelled")).allMatch(event -> actor(event).equals("system -"));
        assertThat(seen.get("step_started")).anyMatch(event -> actor(event).equals("agent w"))
                .allMatch(event -> event.at("/payload/worker").equals(event.get("actor_id")));
        assertThat(seen.get("task_verification_failed")).allMatch(event -> actor(event).equals("verifier verify.jq"));
        assertThat(seen.get("task_created")).filteredOn(event -> !event.at("/payload/depends_on").isEmpty())
                .isNotEmpty().allSatisfy(event -> assertThat(seen.get("task_created"))
                        .anyMatch(other -> other.get("task_id").equals(event.at("/payload/depends_on/0"))));
    }

    private static String actor(JsonNode event) {
        return event.get("actor_type").stringValue() + " " + event.get("actor_id").asString("-");
    }

    private static List<String> words(String cell) {
        return cell.isBlank() ? List.of() : List.of(cell.strip().split(" "));
    }

    private String mission(String tasks, String config) {
        return api.create("""
                {"name": "m", "start": true, "config": %s, "plan": {"tasks": [%s]}}""".formatted(config, tasks));
    }

    private static String task(String id, String more, String... steps) {
        return "{\"id\": \"" + id + "\", \"title\": \"T\"" + more + ", \"steps\": [" + String.join(", ", steps) + "]}";
    }

    private static String step(String tool, String input) {
        return "{\"name\": \"s\", \"tool\": \"" + tool + "\", \"input\": " + input
                + ", \"retry\": {\"max_attempts\": 1}}";
    }

    private void ended(String run, String state) {
        api.awaitState(run, state);
        api.get("/api/v1/runs/" + run + "/events?limit=500").json().get("items").valueStream().forEach(event -> seen
                .computeIfAbsent(event.get("event_type").stringValue(), type -> new ArrayList<>()).add(event));
    }

    private void ask(String path, String body) {
        ApiServer.Answer answer = api.post("/api/v1" + path, body);
        assertThat(answer.status()).as(path + ": " + answer.text()).isBetween(200, 299);
    }

    private JsonNode claim(String tool) {
        ApiServer.Answer answer = api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"w\", \"tools\": [\"" + tool
                + "\"], \"max\": 1, \"wait_ms\": 20000, \"lease_ms\": 60000}");
        assertThat(answer.json().get("items")).as(answer.text()).hasSize(1);
        return answer.json().get("items").get(0);
    }

    private void report(String how, JsonNode item, String members) {
        ask("/dispatch/" + how, "{\"worker_id\": \"w\", \"items\": [{\"step_id\": " + item.get("step_id")
                + ", \"lease_epoch\": " + item.get("lease_epoch") + ", " + members + "}]}");
    }

    private void planned(String answer, String body, String state) {
        String run = api.create("""
                {"goal": "Say it", "start": true, "config": {"autonomy": {"level": "approve"}, "model_preferences": {"planner": "large"}, "planner": {"tool": "echo",
                  "input": {"tasks": [{"id": "say", "title": "Say", "steps": [{"tool": "noop"}]}]}}}}""");
        api.awaitState(run, "awaiting_approval");
        ask("/runs/" + run + "/" + answer, body);
        ended(run, state);
    }

    private void judged() {
        String models = "{\"model_preferences\": {\"verifier\": \"judge\"}, \"retry\": {\"max_retries_per_task\": 2,"
                + " \"backoff_base_seconds\": 0.05}}";
        ended(mission(task("good", ", \"verify\": [{\"kind\": \"jq\", \"expression\": \"true\"}]",
                step("noop", "{\"output\": \"x\"}")) + ", "
                + task("verified", ", \"verify\": [{\"kind\": \"tool\", \"tool\": \"noop\", \"input\": {\"output\": "
                        + NO.replace("unsure", "passed") + "}}]", step("noop", "{}")),
                models), "completed");
        ended(mission(task("bad", ", \"verify\": [{\"kind\": \"jq\", \"expression\": \"false\", \"feedback\":"
                + " \"too short\"}]", step("noop", "{}")), models), "failed");
    }

    private void reviewed() {
        String run = mission(task("a",
                ", \"verify\": [{\"kind\": \"tool\", \"tool\": \"noop\", \"input\": {\"output\": " + NO + "}}]",
                step("noop", "{}")), "{}");
        ask("/tasks/" + waiting(run) + "/reject", "{\"reason\": \"again\", \"retry\": true}");
        ask("/tasks/" + waiting(run) + "/approve", "{}");
        ended(run, "completed");
    }

    private String waiting(String run) {
        return Awaitility.await().until(
                () -> api.get("/api/v1/runs/" + run + "/tasks").json().get("items").valueStream()
                        .filter(task -> task.get("state").stringValue().equals("awaiting_human"))
                        .map(task -> task.get("id").stringValue()).findFirst().orElse(null),
                Objects::nonNull);
    }

    private void turns() {
        assertThat(api.post("/api/v1/agents", """
                {"slug": "ann", "tools": ["noop"], "model": "large"}""").status()).isEqualTo(201);
        String run = api.create("""
                {"name": "m", "start": true, "plan": {"tasks": [{"id": "a", "title": "A",
                  "suggested_agent": {"agent_name": "ann"}}]}}""");
        report("continue", claim("agent.turn"), "\"output\": {}, \"tokens\": 0, \"model\": \"large-2\"");
        report("complete", claim("agent.turn"), "\"output\": {\"done\": true, \"output\": 1}, \"model\": \"small\"");
        ended(run, "completed");
    }

    private void money() {
        String run = mission(task("a", "", step("noop", "{\"tokens\": 7, \"cost\": 1}")) + ", "
                + task("b", ", \"depends_on\": [\"a\"]", step("test.remote", "{}")),
                "{\"budget\": {\"soft_limit_usd\": 0.5, \"hard_limit_usd\": 1}}");
        api.awaitState(run, "budget_exceeded");
        ask("/runs/" + run + "/budget", "{\"hard_limit_usd\": 5}");
        JsonNode step = claim("test.remote");
        ask("/runs/" + run + "/pause", "{\"reason\": \"lunch\"}");
        ask("/runs/" + run + "/resume", "{}");
        report("complete", step, "\"output\": {}");
        ended(run, "completed");
    }

    private void failures() {
        String run = mission(task("a", "", step("test.remote", "{}")) + ", "
                + task("b", ", \"depends_on\": [\"a\"]", step("noop", "{}")),
                "{\"agent_failure_mode\": \"continue\"}");
        report("fail", claim("test.remote"), "\"error_code\": \"GONE\", \"error_class\": \"infrastructure\","
                + " \"message\": \"gone\"");
        Awaitility.await().until(() -> api.run(run).get("state_type").stringValue().equals("terminal"));
        ended(run, api.run(run).get("state").stringValue());
        String fast = mission(task("a", "", step("test.remote", "{}")), "{}");
        report("fail", claim("test.remote"), "\"error_code\": \"GONE\", \"error_class\": \"infrastructure\","
                + " \"message\": \"gone\"");
        ended(fast, "failed");
        String cancelled = mission(task("a", "", step("test.remote", "{}")) + ", "
                + task("b", "", step("test.remote", "{}")), "{}");
        String first = api.get("/api/v1/runs/" + cancelled + "/tasks").json().at("/items/0/id").stringValue();
        ask("/tasks/" + first + "/cancel", "{\"reason\": \"not this\"}");
        ask("/runs/" + cancelled + "/cancel", "{\"reason\": \"enough\"}");
        ended(cancelled, "cancelled");
    }
}
