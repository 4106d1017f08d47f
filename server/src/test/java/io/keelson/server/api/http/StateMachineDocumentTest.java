package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.http.ApiServer.Answer;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The state machine document's enums, tables and invariants as written, and what they say of calls. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StateMachineDocumentTest {

    /** Run transitions, From, To and Trigger. */
    private static final String OF_RUNS = """
            | `PENDING` | `RUNNING` | Worker claims first runnable step |
            | `RUNNING` | `WAITING_APPROVAL` | Approval gate reached |
            | `WAITING_APPROVAL` | `RUNNING` | `POST /runs/{id}/approve` |
            | `RUNNING` | `SUCCEEDED` | All steps are `SUCCEEDED` |
            | `WAITING_APPROVAL` | `SUCCEEDED` | Approval completes last pending gate |
            | `RUNNING` | `FAILED` | Step exhausts retries / terminal failure |
            | `WAITING_APPROVAL` | `FAILED` | Failure on remaining execution after approval |
            | `PENDING` / `RUNNING` / `WAITING_APPROVAL` | `CANCELED` | `POST /runs/{id}/cancel` |
            """;
    /** Step transitions, likewise. */
    private static final String OF_STEPS = """
            | `PENDING` | `RUNNING` | Worker claim |
            | `RUNNING` | `SUCCEEDED` | Executor success |
            | `RUNNING` | `PENDING` | Retryable failure and attempts remaining |
            | `RUNNING` | `FAILED` | Attempts exhausted |
            | `PENDING` | `WAITING_APPROVAL` | Tool stage completed, approval step opened |
            | `WAITING_APPROVAL` | `SUCCEEDED` | Approve endpoint |
            | `PENDING` / `RUNNING` / `WAITING_APPROVAL` | `CANCELED` | Run cancel |
            """;
    /** The template of the document: a tool stage, an approval, and what comes after it. */
    private static final String TEMPLATE = """
            {"name": "template", "start": true, "plan": {"tasks": [{"id": "t", "steps": [
              {"name": "TOOL", "tool": "noop"},
              {"name": "APPROVAL", "kind": "approval", "input": {"question": "Go on?"}},
              {"name": "AFTER", "tool": "%s"}]}]}}""";

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    /** RunStatus and StepStatus are the same six. */
    @Test
    void enumsOfTheContract() {
        JsonNode steps = api.get("/api/v1/lifecycles/steps").json();
        for (JsonNode machine : List.of(steps, steps.at("/machines/0"))) {
            assertThat(machine.get("states").valueStream().map(state -> state.get("name").stringValue()))
                    .containsExactlyInAnyOrder("PENDING", "RUNNING", "WAITING_APPROVAL", "SUCCEEDED", "FAILED",
                            "CANCELED");
            assertThat(machine.get("initial").stringValue()).isEqualTo("PENDING");
        }
    }

    @Test
    void transitionsOfTheContract() {
        JsonNode steps = api.get("/api/v1/lifecycles/steps").json();
        Set<String> ofRuns = documented(OF_RUNS);
        assertThat(ways(steps)).containsAll(ofRuns);
        Set<String> ofSteps = documented(OF_STEPS);
        ofSteps.add("WAITING_APPROVAL -> FAILED"); // a rejected approval, of which the document says nothing
        ofSteps.add("PENDING -> SUCCEEDED"); // a call of an agent, answered from another run's record
        ofSteps.add("WAITING_APPROVAL -> PENDING"); // an approved call of an agent, which is queued then
        assertThat(ways(steps.at("/machines/0"))).isEqualTo(ofSteps);
    }

    private static Set<String> documented(String table) {
        Set<String> ways = new TreeSet<>();
        table.lines().map(line -> line.replace("`", "").split("\\|")).forEach(cells -> {
            for (String from : cells[1].split("/")) {
                ways.add(from.strip() + " -> " + cells[2].strip());
            }
        });
        return ways;
    }

    private static Set<String> ways(JsonNode machine) {
        return machine.get("transitions").valueStream()
                .map(way -> way.get("from").stringValue() + " -> " + way.get("to").stringValue())
                .filter(way -> !way.matches("(\\w+) -> \\1")).collect(Collectors.toCollection(TreeSet::new));
    }

    /** Approve "updates only approval step rows in WAITING_APPROVAL" and is idempotent. */
    @Test
    void approvalOnlyFromWaitingApproval() {
        String run = api.create(TEMPLATE.formatted("noop"));
        api.awaitStep(run, "waiting_approval");
        assertStates(run, "WAITING_APPROVAL", """
                {"SUCCEEDED": 1, "WAITING_APPROVAL": 1, "PENDING": 1}""");
        List<Integer> attempts = steps(run).stream().map(step -> step.get("lease_epoch").intValue()).toList();
        assertThat(attempts).as("no worker executes an approval").containsExactly(1, 0, 0);

        assertThat(api.post("/runs/" + run + "/approve", "{}").status()).isEqualTo(200);
        api.awaitState(run, "completed");

        assertStates(run, "SUCCEEDED", "{\"SUCCEEDED\": 3}");
        long version = api.run(run).get("version_id").longValue();
        assertThat(api.post("/runs/" + run + "/approve", "{}").status()).isEqualTo(200);
        assertThat(api.run(run).get("version_id").longValue()).isEqualTo(version);
        assertThat(steps(run).stream().map(step -> step.get("lease_epoch").intValue())).containsExactly(1, 0, 1);
    }

    @Test
    void failureOnRemainingExecutionAfterApproval() {
        String run = api.create(TEMPLATE.formatted("fail\", \"input\": {\"class\": \"permanent\"}, \"name\": \"AFTER")
                .replace("{\"name\": \"AFTER\", \"tool\"", "{\"tool\""));
        api.awaitStep(run, "waiting_approval");
        assertThat(api.post("/runs/" + run + "/approve", "{}").status()).isEqualTo(200);
        api.awaitState(run, "failed");
        assertStates(run, "FAILED", "{\"SUCCEEDED\": 2, \"FAILED\": 1}");
    }

    @Test
    void cancelIsTerminal() {
        String run = api.create(TEMPLATE.formatted("noop"));
        api.awaitStep(run, "waiting_approval");
        assertThat(api.post("/runs/" + run + "/cancel", "{}").status()).isEqualTo(200);
        assertStates(run, "CANCELED", "{\"SUCCEEDED\": 1, \"CANCELED\": 2}");
        assertThat(api.post("/runs/" + run + "/approve", "{}").json().get("code").stringValue())
                .isEqualTo("INVALID_STATE_TRANSITION");
        assertStates(run, "CANCELED", "{\"SUCCEEDED\": 1, \"CANCELED\": 2}");
    }

    /** "Worker only claims a step when all earlier steps in the same run are already SUCCEEDED", and retries go back. */
    @Test
    void retriedStepIsPendingAndDelaysLaterSteps() {
        String run = api.create("""
                {"name": "retry", "start": true, "plan": {"tasks": [{"id": "t", "steps": [
                  {"name": "TOOL", "tool": "fail", "input": {"times": 1}, "retry": {"max_attempts": 2,
                   "base_delay_seconds": 60, "max_delay_seconds": 60}},
                  {"name": "AFTER", "tool": "noop"}]}]}}""");
        api.awaitStep(run, "awaiting_retry");
        assertStates(run, "RUNNING", "{\"PENDING\": 2}");
        assertThat(steps(run).getFirst().get("next_run_at").stringValue()).matches(Quoted.TIME);
        assertThat(steps(run).getFirst().get("lease_epoch").intValue()).isEqualTo(1);
        api.post("/runs/" + run + "/cancel", "{}");
    }

    /** "POST /runs supports Idempotency-Key": the same request maps to one durable run id. */
    @Test
    void idempotentRunCreation() {
        Answer first = api.post("/runs", ApiServer.WAITS, "Idempotency-Key", "one");
        Answer again = api.post("/runs", ApiServer.WAITS, "Idempotency-Key", "one");
        assertThat(first.status()).isEqualTo(201);
        assertThat(again.status()).isEqualTo(200);
        assertThat(again.json().get("id")).isEqualTo(first.json().get("id"));
        Answer theirs = api.post("/runs", ApiServer.WAITS, "Idempotency-Key", "one", "Authorization", api.stranger());
        assertThat(theirs.status()).isEqualTo(201);
        assertThat(theirs.json().get("id")).isNotEqualTo(first.json().get("id"));
    }

    /** "Cross-tenant resource access intentionally returns 404". */
    @ParameterizedTest
    @CsvSource({"GET, ''", "POST, /cancel", "POST, /approve"})
    void tenantIsolation(String method, String action) {
        String run = api.create(ApiServer.WAITS);
        byte[] body = method.equals("POST") ? "{}".getBytes(StandardCharsets.UTF_8) : null;
        String stranger = api.stranger();
        Answer answer = api.send(method, "/runs/" + run + action, body, "Authorization", stranger, "Content-Type",
                "application/json");
        assertThat(answer.status()).isEqualTo(404);
        assertThat(api.get("/runs", "Authorization", stranger).json().get("items")).isEmpty();
        assertThat(api.run(run).get("state").stringValue()).isEqualTo("created");
    }

    private List<JsonNode> steps(String run) {
        return api.get("/runs/" + run + "/steps").json().get("items").valueStream().toList();
    }

    private void assertStates(String run, String ofRun, String ofSteps) {
        JsonNode states = api.get("/runs/" + run + "/states").json().at("/contracts/steps");
        assertThat(states.get("run").stringValue()).isEqualTo(ofRun);
        assertThat(states.get("steps")).isEqualTo(Quoted.json(ofSteps));
    }
}
