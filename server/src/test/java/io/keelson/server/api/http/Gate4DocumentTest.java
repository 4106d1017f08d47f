package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.http.ApiServer.Answer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The orchestrator controls' tables and rules (AG-ORCH-01 to 03) as written. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class Gate4DocumentTest {

    /** Deterministic Transition Matrix: Current State, Allowed Targets. */
    private static final String MATRIX = """
            received | received, queued, failed, cancelled |
            queued | queued, executing, failed, cancelled |
            executing | executing, awaiting_tool, awaiting_user_confirmation, completed, failed, cancelled |
            awaiting_tool | awaiting_tool, executing, failed, cancelled |
            awaiting_user_confirmation | awaiting_user_confirmation, executing, failed, cancelled |
            completed | completed |
            failed | failed |
            cancelled | cancelled |
            """;

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
        claim();
    }

    @AfterAll
    void stop() {
        api.close();
    }

    /** What there is to do, one item at a time. */
    private List<JsonNode> claim() {
        return api.post("/api/v1/dispatch/claim", """
                {"worker_id": "w", "tools": ["test.remote"], "max": 1}""").json().get("items").valueStream().toList();
    }

    private String queued(int priority) {
        String run = api.create(ApiServer.REMOTE.replace("\"start\": true", "\"start\": true, \"priority\": "
                + priority));
        assertThat(item(run)).isEqualTo("{\"queued\":1}");
        return run;
    }

    /** A task is a work item. */
    private String item(String run) {
        return api.get("/runs/" + run + "/states").json().at("/contracts/gate4/tasks").toString();
    }

    @Test
    void transitionMatrixOfTheContract() {
        Map<String, TreeSet<String>> documented = new TreeMap<>();
        MATRIX.lines().map(line -> line.split("\\|")).forEach(cells -> documented.put(cells[0].strip(),
                new TreeSet<>(Arrays.asList(cells[1].strip().split(", ")))));
        Map<String, TreeSet<String>> served = new TreeMap<>();
        api.get("/api/v1/lifecycles/gate4").json().get("transitions").forEach(way -> served
                .computeIfAbsent(way.get("from").stringValue(), state -> new TreeSet<>())
                .add(way.get("to").stringValue()));
        assertThat(served).isEqualTo(documented);
    }

    /**
     * AG-ORCH-02: "lower numeric priority executes first; same priority is FIFO", "dequeue transitions queued ->
     * executing", and "cancelling queued work prevents execution and records cancellation reason".
     */
    @Test
    void theQueueIsDeterministic() {
        String late = queued(20);
        String first = queued(10);
        String cancelled = queued(5);
        String second = queued(10);
        assertThat(api.post("/runs/" + cancelled + "/cancel", "{\"reason\": \"not needed\"}").status()).isEqualTo(200);

        List<String> order = new ArrayList<>();
        for (List<JsonNode> items = claim(); !items.isEmpty(); items = claim()) {
            order.add(items.getFirst().get("run_id").stringValue());
            assertThat(item(order.getLast())).isEqualTo("{\"executing\":1}");
        }

        assertThat(order).containsExactly(first, second, late);
        assertThat(item(cancelled)).isEqualTo("{\"cancelled\":1}");
        assertThat(api.run(cancelled).get("error_message").stringValue()).isEqualTo("not needed");
        order.forEach(run -> api.post("/runs/" + run + "/cancel", "{}"));
        order.forEach(run -> assertThat(item(run)).as("executing work is cancelled directly")
                .isEqualTo("{\"cancelled\":1}"));
    }

    /** "Terminal states remain immutable under cancellation attempts", and "must fail deterministically". */
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
            completed | noop", "input": {}                      | INVALID_STATE_TRANSITION
            failed    | fail", "input": {"class": "permanent"}  | INVALID_STATE_TRANSITION
            """)
    void terminalStatesAreImmutable(String state, String tool, String code) {
        String run = api.create("""
                {"name": "m", "start": true, "plan": {"tasks": [{"id": "t", "steps": [
                  {"name": "s", "tool": "%s}]}]}}""".formatted(tool));
        JsonNode ended = api.awaitState(run, state);
        for (int i = 0; i < 2; i++) {
            Answer refused = api.post("/runs/" + run + "/cancel", "{}");
            assertThat(refused.status()).isEqualTo(409);
            assertThat(refused.json().get("code").stringValue()).isEqualTo(code);
            assertThat(refused.json().get("detail").stringValue()).contains(state);
        }
        assertThat(api.run(run)).isEqualTo(ended);
    }

    /** AG-ORCH-03, the Retry Decision Matrix: condition, decision, next runtime state. */
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
            Attempts and failures within budget | 3 | 3 | awaiting_tool | step_retrying | retry_scheduled
            max_attempts exhausted              | 1 | 3 | failed        | step_failed   | attempt_budget_exhausted
            max_failures exhausted              | 3 | 1 | failed        | step_failed   | failure_budget_exhausted
            """)
    void retriesAreDecidedOnBudgets(String condition, int attempts, int failures, String state, String type,
            String reason) {
        String run = api.create("""
                {"name": "m", "start": true, "plan": {"tasks": [{"id": "t", "retry": {"max_attempts": 1}, "steps": [
                  {"name": "s", "tool": "fail", "retry": {"max_attempts": %d, "max_failures": %d,
                   "base_delay_seconds": 60, "max_delay_seconds": 60, "jitter": 0}}]}]}}""".formatted(attempts,
                failures));
        if (state.equals("failed")) {
            api.awaitState(run, "failed");
        } else {
            api.awaitStep(run, "awaiting_retry");
        }
        JsonNode decision = api.get("/runs/" + run + "/events?limit=500").json().get("items").valueStream()
                .filter(event -> event.get("event_type").stringValue().equals(type)).findFirst().orElseThrow()
                .get("payload");
        assertThat(decision.get("reason").stringValue()).isEqualTo(reason);
        assertThat(api.get("/runs/" + run + "/states").json().at("/contracts/gate4/run").stringValue())
                .isEqualTo(state);
        assertThat(item(run)).isEqualTo("{\"" + state + "\":1}");
        if (state.equals("awaiting_tool")) {
            Quoted.assertHolds(decision, Quoted.json("""
                    {"retry_after_seconds": 60, "attempts": 1, "failures": 1, "remaining_attempts": 2,
                     "remaining_failures": 2}"""));
            api.post("/runs/" + run + "/cancel", "{}");
        } else {
            Answer again = api.post("/runs/" + run + "/cancel", "{}");
            assertThat(again.status()).as("immutable").isEqualTo(409);
            JsonNode before = task(run);
            Answer denied = api.post("/api/v1/tasks/" + before.get("id").stringValue() + "/retry", "{}");
            assertThat(denied.status()).as("Retry state already terminal: new attempts denied").isEqualTo(409);
            assertThat(denied.json().get("code").stringValue()).isEqualTo("RETRY_STATE_TERMINAL");
            assertThat(denied.json().get("detail").stringValue()).contains("keelson retry", "keelson fork");
            assertThat(task(run)).as("failed (immutable)").isEqualTo(before);
        }
    }

    /** AG-ORCH-02: what is cancelled by itself, with its run, or for what failed beside it. */
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
            tasks | too dear
            runs  | not needed
            """)
    void aCancelledItemKeepsItsReason(String what, String reason) {
        String run = queued(30);
        String id = what.equals("runs") ? run : task(run).get("id").stringValue();
        assertThat(api.post("/api/v1/" + what + "/" + id + "/cancel", "{\"reason\": \"" + reason + "\"}").status())
                .isEqualTo(200);
        JsonNode cancelled = task(run);
        assertThat(cancelled.get("state").stringValue()).isEqualTo("cancelled");
        assertThat(cancelled.get("error_code").stringValue()).isEqualTo("TASK_CANCELLED");
        assertThat(cancelled.get("error_message").stringValue()).isEqualTo(reason);
    }

    private JsonNode task(String run) {
        return api.get("/api/v1/runs/" + run + "/tasks").json().at("/items/0");
    }
}
