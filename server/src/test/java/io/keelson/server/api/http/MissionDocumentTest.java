package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * The plan and the config of the mission schema, with every member that it names, and the columns of
 * its tables in what is read.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MissionDocumentTest {

    /** Depends_on refers to temp_id, suggestions are hints, strategy is informational. */
    private static final String PLAN = """
            {
              "version": 1,
              "strategy": "mixed",
              "reasoning": "Research first, then write",
              "tasks": [
                {
                  "temp_id": "t1",
                  "title": "Research EU AI Act compliance",
                  "description": "What applies to our product",
                  "task_type": "research",
                  "suggested_agent": {"type": "contractor", "agent_name": "researcher"},
                  "suggested_model": "test-model",
                  "tools_needed": ["noop"],
                  "depends_on": [],
                  "estimated_tokens": 5000,
                  "estimated_cost": 0.05,
                  "success_criteria": "Names the articles that apply",
                  "steps": [{"name": "read", "tool": "noop"}]
                },
                {
                  "temp_id": "t2",
                  "title": "Write the report",
                  "task_type": "synthesis",
                  "depends_on": ["t1"],
                  "estimated_tokens": 3000,
                  "estimated_cost": 0.03,
                  "steps": [{"name": "write", "tool": "noop"}]
                }
              ],
              "total_estimated_tokens": 8000,
              "total_estimated_cost": 0.08
            }""";
    private static final String CONFIG = """
            {
              "autonomy": {"level": "autonomous", "auto_approve_threshold": 1.0},
              "budget": {"soft_limit_usd": 5.0, "hard_limit_usd": 10.0, "warn_at_percent": 80},
              "model_preferences": {"planner": "test-model", "researcher": "test-model", "writer": "test-model",
                "reviewer": "test-model", "verifier": "test-model"},
              "timeouts": {"task_stall_seconds": 300, "task_assign_seconds": 120, "verify_seconds": 180,
                "run_max_duration_seconds": 3600},
              "retry": {"max_retries_per_task": 3, "max_continuations_per_task": 10, "backoff_base_seconds": 10,
                "backoff_max_seconds": 300},
              "notifications": {"on_completion": true, "on_failure": true, "on_budget_warning": true,
                "channel": "default"}
            }""";

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
        byte[] prices =
                """
                {"items": [{"kind": "model", "name": "test-model", "usd_per_million_tokens": {"input": 1, "output": 1}}]}"""
                        .getBytes(StandardCharsets.UTF_8);
        assertThat(api.send("PUT", "/api/v1/prices", prices, "Content-Type", "application/json").status())
                .isEqualTo(200);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    @Test
    void planAndConfigAreKeptUnchanged() {
        String run = mission(CONFIG);
        api.awaitState(run, "completed");

        JsonNode read = api.run(run);
        Quoted.assertHolds(read.get("plan"), Quoted.json(PLAN));
        Quoted.assertHolds(read.get("config"), Quoted.json(CONFIG));
        Quoted.assertHolds(read, Quoted.json("""
                {"goal": "Research EU AI Act compliance for our product", "task_count": 2, "tasks_completed": 2,
                 "tasks_failed": 0, "error_message": null, "state_type": "terminal"}"""));
        assertThat(read.propertyNames()).contains("id", "workspace_id", "description", "goal", "state", "state_type",
                "plan", "config", "result_summary", "error_message", "created_by", "total_tokens", "total_cost",
                "task_count", "tasks_completed", "tasks_failed", "started_at", "completed_at", "duration_ms",
                "version_id", "created_at", "updated_at");
        JsonNode tasks = api.get("/api/v1/runs/" + run + "/tasks").json().get("items");
        Quoted.assertHolds(tasks.get(0), Quoted.json("""
                {"key": "t1", "title": "Research EU AI Act compliance", "task_type": "research", "state": "completed",
                 "trigger_rule": "all_success", "depends_on": []}"""));
        assertThat(tasks.get(1).get("depends_on").toString()).isEqualTo("[\"t1\"]");
        JsonNode events = api.get("/api/v1/runs/" + run + "/events?limit=500").json().get("items");
        Set<String> types = events.valueStream().map(event -> event.get("event_type").stringValue())
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(types).contains("run_created", "run_planning_started", "run_plan_ready", "run_started",
                "run_completed", "task_created", "task_queued", "task_assigned", "task_started", "task_completed");
        assertThat(events.get(0).propertyNames()).contains("id", "run_id", "task_id", "event_type", "payload",
                "actor_type", "actor_id", "created_at");
    }

    /** "Human pauses: pause all non-terminal tasks." */
    @Test
    void openTasksOfAPausedRunArePaused() {
        String run = api.create("""
                {"name": "paused", "start": true, "plan": {"tasks": [
                  {"id": "done", "steps": [{"name": "a", "tool": "noop"}]},
                  {"id": "asks", "depends_on": ["done"], "steps": [{"name": "b", "kind": "approval"}]},
                  {"id": "later", "depends_on": ["asks"], "steps": [{"name": "c", "tool": "noop"}]}]}}""");
        api.awaitStep(run, "waiting_approval");
        assertThat(states(run)).containsExactly("completed completed", "running running", "pending pending");
        assertThat(api.post("/api/v1/runs/" + run + "/pause", "{}").status()).isEqualTo(200);
        assertThat(states(run)).containsExactly("completed completed", "running paused", "pending paused");
        assertThat(api.post("/api/v1/runs/" + run + "/resume", "{}").status()).isEqualTo(200);
        assertThat(states(run)).containsExactly("completed completed", "running running", "pending pending");
    }

    /** State and effective state of each task, as the list and the task itself have them. */
    private List<String> states(String run) {
        return api.get("/api/v1/runs/" + run + "/tasks").json().get("items").valueStream().map(task -> {
            assertThat(api.get("/api/v1/tasks/" + task.get("id").stringValue()).json().get("effective_state"))
                    .isEqualTo(task.path("effective_state"));
            return task.get("state").stringValue() + " " + task.path("effective_state").asString("none");
        }).toList();
    }

    /** "Coordinator shows plan → human approves → execution begins", and what exceeds the threshold does so, too. */
    @Test
    void aPlanThatCostsMoreThanTheThresholdWaitsForApproval() {
        String run = mission(CONFIG.replace("\"auto_approve_threshold\": 1.0", "\"auto_approve_threshold\": 0.01"));
        api.awaitState(run, "awaiting_approval");
        assertThat(api.post("/api/v1/runs/" + run + "/approve", "{}").status()).isEqualTo(200);
        api.awaitState(run, "completed");
        assertThat(api.get("/api/v1/runs/" + run + "/events?limit=500").text()).contains("\"run_approved\"");
    }

    private String mission(String config) {
        return api.create("""
                {"name": "EU AI Act", "goal": "Research EU AI Act compliance for our product", "start": true,
                 "config": %s, "plan": %s}""".formatted(config, PLAN));
    }
}
