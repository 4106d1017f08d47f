package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The published machines, and a run's state in every vocabulary. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LifecyclesApiTest {

    /** Two tasks, of which the second waits for the first; the steps of the first are filled in. */
    private static final String MISSION = """
            {"name": "m", "start": true, "plan": {"tasks": [
              {"id": "one", "title": "One", "steps": [%s]},
              {"id": "two", "title": "Two", "depends_on": ["one"], "steps": [{"name": "last", "tool": "noop"}]}]}}""";
    private static final String APPROVAL = """
            {"name": "sign-off", "kind": "approval", "input": {"question": "Go on?"}}""";
    private static final String BACKOFF = """
            {"name": "bad", "tool": "fail", "input": {"code": "NO_LUCK", "class": "infrastructure"},
             "retry": {"max_attempts": 3, "base_delay_seconds": 3600, "max_delay_seconds": 3600}}""";
    private static final String NAP = """
            {"name": "nap", "tool": "wait", "input": {"seconds": 3600}}""";

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    @Test
    void allArePublishedTheCanonicalOnesFirst() {
        JsonNode list = api.get("/api/v1/lifecycles").json();
        assertThat(list.get("next_cursor").isNull()).isTrue();
        assertThat(texts(list.get("items"), "name")).containsExactly("run", "agent", "task", "step", "handoff", "gate4",
                "steps", "mission", "lifecycle");
        assertThat(texts(list.get("items"), "entity")).containsExactly("run", "agent", "task", "step", "run", "run",
                "run", "run", "run");
        list.get("items").forEach(each -> assertThat(api.get("/api/v1/lifecycles/" + each.get("name").stringValue())
                .json()).isEqualTo(each));
    }

    @Test
    void aCanonicalMachineNamesItsEvents() {
        JsonNode run = api.get("/api/v1/lifecycles/run").json();
        assertThat(run.propertyNames()).containsExactly("name", "entity", "initial", "states", "transitions");
        assertThat(run.get("initial").stringValue()).isEqualTo("created");
        assertThat(run.at("/states/0").toString())
                .isEqualTo("{\"name\":\"created\",\"type\":\"pending\",\"terminal\":false}");
        assertThat(run.at("/transitions/0").toString())
                .isEqualTo("{\"from\":\"created\",\"to\":\"pending\",\"by\":\"start\",\"event\":\"run_queued\"}");
    }

    @Test
    void aContractHasItsMachinesAndProjections() {
        ApiServer.Answer answer = api.get("/api/v1/lifecycles/gate4");
        JsonNode gate4 = answer.json();
        assertThat(gate4.get("title").stringValue()).isEqualTo("Orchestrator Controls");
        assertThat(gate4.get("initial").stringValue()).isEqualTo("received");
        assertThat(gate4.at("/transitions/0").toString())
                .isEqualTo("{\"from\":\"received\",\"to\":\"received\",\"by\":\"repeated\"}");
        assertThat(texts(gate4.get("machines"), "entity")).containsExactly("task");
        assertThat(gate4.at("/machines/0/transitions")).isEqualTo(gate4.get("transitions"));
        assertThat(gate4.get("projection").valueStream().map(JsonNode::toString)).contains(
                "{\"canonical\":\"running\",\"state\":\"executing\",\"new_item\":false}",
                "{\"canonical\":\"running\",\"when\":\"waits_for_timer\",\"state\":\"awaiting_tool\",\"new_item\":false}",
                "{\"canonical\":\"retrying\",\"state\":\"received\",\"new_item\":true}");
        assertThat(gate4.at("/machines/0/projection").valueStream().map(JsonNode::toString)).contains(
                "{\"canonical\":\"queued\",\"when\":\"later_attempt\",\"state\":\"awaiting_tool\",\"new_item\":false}");
        assertThat(texts(api.get("/api/v1/lifecycles/steps").json().get("machines"), "entity")).containsExactly("step");
        assertThat(api.get("/api/v1/lifecycles/handoff").json().get("machines")).isEmpty();
        assertThat(api.get("/api/v1/lifecycles/gate4", "If-None-Match", answer.header("ETag")).status()).isEqualTo(304);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Run", "gate5", "%20", "run%2f"})
    void unknownLifecycleIsRefusedWithTheKnownOnes(String name) {
        ApiServer.Answer answer = api.get("/api/v1/lifecycles/" + name);
        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.json().get("code").stringValue()).isEqualTo("LIFECYCLE_NOT_FOUND");
        assertThat(answer.json().get("allowed").valueStream().map(JsonNode::stringValue)).contains("run", "gate4");
    }

    @Test
    void aCreatedRunInEveryVocabulary() {
        String run = api.create(ApiServer.WAITS);
        ApiServer.Answer answer = api.get("/api/v1/runs/" + run + "/states");
        assertThat(answer.json().toString()).isEqualTo("{\"run_id\":\"" + run + "\",\"attempt_number\":1,"
                + "\"circumstance\":\"usual\",\"canonical\":{\"run\":\"created\",\"tasks\":{},\"steps\":{}},"
                + "\"contracts\":{\"handoff\":{\"run\":\"CREATED\"},\"gate4\":{\"run\":\"received\",\"tasks\":{}},"
                + "\"steps\":{\"run\":\"PENDING\",\"steps\":{}},\"mission\":{\"run\":\"pending\",\"tasks\":{}},"
                + "\"lifecycle\":{\"run\":\"requested\"}}}");
        assertThat(api.get("/runs/run_" + run + "/states", "If-None-Match", answer.header("ETag")).status())
                .isEqualTo(304);
    }

    @Test
    void workWaitingForAHumanOnlyIsShownAsWaiting() {
        String run = api.create(MISSION.formatted(APPROVAL));
        api.awaitStep(run, "waiting_approval");
        assertStates(run, "waits_for_human", """
                {"run":"running","tasks":{"pending":1,"running":1},"steps":{"pending":1,"waiting_approval":1}}""",
                "RUNNING", "awaiting_user_confirmation", "WAITING_APPROVAL", "running", "running");
        assertThat(states(run).at("/contracts/gate4/tasks").toString()).isEqualTo(
                "{\"received\":1,\"awaiting_user_confirmation\":1}");
        assertThat(states(run).at("/contracts/mission/tasks").toString()).isEqualTo("{\"pending\":1,\"running\":1}");
        assertThat(states(run).at("/contracts/steps/steps").toString())
                .isEqualTo("{\"PENDING\":1,\"WAITING_APPROVAL\":1}");

        api.post("/api/v1/runs/" + run + "/pause", "{}");
        assertStates(run, "waits_for_human", null, "PAUSED", "awaiting_user_confirmation", "RUNNING", "paused",
                "running");
        api.post("/api/v1/runs/" + run + "/cancel", "{}");
        assertStates(run, "usual", "{\"run\":\"cancelled\",\"tasks\":{\"cancelled\":2},\"steps\":{\"cancelled\":2}}",
                "CANCELLED", "cancelled", "CANCELED", "cancelled", "failed");
    }

    @Test
    void workThatAllWaitsForABackoffAwaitsItsTool() {
        String run = api.create(MISSION.formatted(BACKOFF));
        api.awaitStep(run, "awaiting_retry");
        assertStates(run, "waits_for_timer",
                "{\"run\":\"running\",\"tasks\":{\"pending\":1,\"running\":1},\"steps\":{\"pending\":1,\"awaiting_retry\":1}}",
                "RUNNING", "awaiting_tool", "RUNNING", "running", "running");
        assertThat(states(run).at("/contracts/steps/steps").toString()).isEqualTo("{\"PENDING\":2}");
    }

    @Test
    void aTimerThatIsTheWorkItselfIsWork() {
        String run = api.create(MISSION.formatted(NAP));
        api.awaitStep(run, "waiting");
        assertStates(run, "usual", null, "RUNNING", "executing", "RUNNING", "running", "running");
    }

    @Test
    void workReadyForAWorkerWaitsForNoPerson() {
        api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"w\", \"tools\": [\"test.remote\"], \"max\": 1}");
        String run = api.create("""
                {"name": "m", "start": true, "plan": {"tasks": [
                  {"id": "ask", "title": "Ask", "steps": [%s]},
                  {"id": "do", "title": "Do", "steps": [{"name": "work", "tool": "test.remote"}]}]}}"""
                .formatted(APPROVAL));
        api.awaitStep(run, "waiting_approval");
        assertStates(run, "usual",
                "{\"run\":\"running\",\"tasks\":{\"queued\":1,\"running\":1},\"steps\":{\"pending\":1,\"waiting_approval\":1}}",
                "RUNNING", "executing", "RUNNING", "running", "running");
        assertThat(states(run).at("/contracts/gate4/tasks").toString()).isEqualTo(
                "{\"queued\":1,\"awaiting_user_confirmation\":1}");
        api.sql("update orchestration_tasks set attempt_number = 2 where run_id = '" + run + "'");
        assertThat(states(run).at("/contracts/gate4/tasks").toString())
                .isEqualTo("{\"executing\":1,\"awaiting_tool\":1}");
    }

    /** Only the current attempt counts. */
    @Test
    void aRetriedRunIsItsNewAttempt() {
        String run = api.create("""
                {"name": "m", "start": true, "plan": {"tasks": [{"id": "a", "title": "A", "steps": [
                  {"name": "bad", "tool": "fail", "input": {"code": "NO_LUCK", "class": "permanent"}}]}]}}""");
        api.awaitState(run, "failed");
        assertStates(run, "usual", "{\"run\":\"failed\",\"tasks\":{\"failed\":1},\"steps\":{\"failed\":1}}", "FAILED",
                "failed", "FAILED", "failed", "failed");
        api.post("/api/v1/runs/" + run + "/retry", "{\"from\": \"start\"}");
        api.awaitState(run, "failed");
        assertThat(states(run).get("attempt_number").intValue()).isEqualTo(2);
        assertThat(states(run).at("/canonical/tasks").toString()).isEqualTo("{\"failed\":1}");
    }

    @ParameterizedTest
    @CsvSource({"00000000-0000-0000-0000-000000000000, 404, RUN_NOT_FOUND", "nonsense, 400, INVALID_ID"})
    void aRunThatIsNotThereHasNoStates(String id, int status, String code) {
        ApiServer.Answer answer = api.get("/api/v1/runs/" + id + "/states");
        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.json().get("code").stringValue()).isEqualTo(code);
    }

    private void assertStates(String run, String circumstance, String canonical, String... inContracts) {
        JsonNode states = states(run);
        assertThat(states.get("circumstance").stringValue()).isEqualTo(circumstance);
        if (canonical != null) {
            assertThat(states.get("canonical").toString()).isEqualTo(canonical.strip());
        }
        assertThat(texts(states.get("contracts"), "run")).containsExactly(inContracts);
    }

    private JsonNode states(String run) {
        ApiServer.Answer answer = api.get("/api/v1/runs/" + run + "/states");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json();
    }

    private static List<String> texts(JsonNode nodes, String member) {
        return nodes.valueStream().map(each -> each.get(member).stringValue()).toList();
    }
}
