package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.http.ApiServer.Answer;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The examples of the run orchestrator's handoff as written. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HandoffDocumentTest {

    private static final String KEY = "idem_550e8400-e29b-41d4-a716-446655440000";
    private static final String REQUEST = """
            {
              "name": "Research AI market trends",
              "task": "..."
            }""";
    private static final String RESPONSE = """
            {
              "id": "run_123456789",
              "status": "created"
            }""";
    /** The allowed actions that change the state, and their repetition. */
    private static final String WAYS = """
            CREATED → PENDING
            CREATED → CANCELLED
            PENDING → RUNNING
            PENDING → CANCELLED
            PENDING → FAILED
            RUNNING → COMPLETED
            RUNNING → FAILED
            RUNNING → PAUSED
            RUNNING → CANCELLED
            PAUSED → RESUMING
            PAUSED → CANCELLED
            RESUMING → RUNNING
            RESUMING → FAILED
            FAILED → RETRYING
            RETRYING → PENDING
            RETRYING → FAILED
            """;

    private static final String TWO_AGENTS = """
            {"tasks": [
              {"id": "a", "suggested_agent": {"agent_name": "ann"}, "steps": [{"name": "s", "tool": "noop"}]},
              {"id": "b", "suggested_agent": {"agent_name": "bob"}, "depends_on": ["a"], "steps": [
                {"name": "s", "tool": "noop"}]}]}""";
    private static final String CLAIM = """
            {"worker_id": "w", "tools": ["test.handoff"], "max": 1, "wait_ms": %d}""";

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    /**
     * "Same response, no side effects". Ids below {@code /api/v1} are bare, and the document's form is accepted. The request
     * has a plan, because this test has no planner.
     */
    @Test
    void aRunIsCreatedOnceUnderAKey() {
        String request =
                Quoted.json(REQUEST, "\"...\"", "\"...\", \"plan\": " + Quoted.json(ApiServer.WAITS).get("plan"))
                        .toString();
        Answer created = api.post("/api/v1/runs", request, "Idempotency-Key", KEY);
        Answer again = api.post("/api/v1/runs", request, "Idempotency-Key", KEY);

        assertThat(created.status()).as(created.text()).isEqualTo(201);
        assertThat(again.status()).isEqualTo(200);
        assertThat(again.text()).isEqualTo(created.text());
        String run = created.json().get("id").stringValue();
        Quoted.assertHolds(created.json(), Quoted.json(RESPONSE, "run_123456789", run));
        assertThat(created.json().get("goal").stringValue()).isEqualTo("...");
        assertThat(api.get("/runs/run_" + run).json().get("id").stringValue()).isEqualTo(run);
        assertThat(api.get("/api/v1/runs").json().get("items").valueStream()
                .filter(each -> each.get("name").stringValue().equals("Research AI market trends"))).hasSize(1);
    }

    @Test
    void statesAndTransitionsOfTheContract() {
        Set<String> ways = api.get("/api/v1/lifecycles/handoff").json().get("transitions").valueStream()
                .map(way -> way.get("from").stringValue() + " → " + way.get("to").stringValue())
                .filter(way -> !way.matches("(\\w+) → \\1")).collect(Collectors.toCollection(TreeSet::new));
        assertThat(ways).isEqualTo(new TreeSet<>(WAYS.lines().toList()));
    }

    /** State: CREATED, Invariants. */
    @Test
    void aCreatedRunHasNothingYet() {
        String run = api.create(ApiServer.WAITS);
        Quoted.assertHolds(api.run(run), Quoted.json("""
                {"credits_reserved": 0, "agent_count": 0, "task_count": 0, "started_at": null}"""));
        assertThat(Quoted.time(api.run(run), "created_at")).isNotEmpty();
    }

    /** What each rule says of doing it again. */
    @Test
    void repeatedHandoffChangesNothing() {
        String run = api.create(ApiServer.WAITS);
        for (String action : List.of("start", "pause", "resume", "cancel")) {
            if (action.equals("pause")) {
                api.awaitStep(run, "waiting_approval");
            }
            Answer first = api.post("/api/v1/runs/" + run + "/" + action, "{}");
            assertThat(first.status()).as(first.text()).isEqualTo(200);
            if (action.equals("resume")) {
                api.awaitState(run, "running");
            }
            long events = events(run);
            assertThat(api.post("/api/v1/runs/" + run + "/" + action, "{}").status()).as(action).isEqualTo(200);
            if (!action.equals("start")) {
                assertThat(events(run)).as(action).isEqualTo(events);
            }
        }
        Quoted.assertHolds(api.run(run), Quoted.json("""
                {"state": "cancelled", "state_type": "terminal"}"""));
        JsonNode agents = api.get("/api/v1/runs/" + run + "/agents").json().get("items");
        assertThat(agents).allMatch(agent -> agent.get("state").stringValue().equals("cancelled"));
        assertCancelledAt(api.run(run));
        assertThat(api.get("/api/v1/runs/" + run + "/tasks").json().get("items")).isNotEmpty()
                .allSatisfy(HandoffDocumentTest::assertCancelledAt);
    }

    private static void assertCancelledAt(JsonNode ended) {
        assertThat(ended.get("cancelled_at").stringValue()).isEqualTo(ended.get("completed_at").stringValue());
    }

    /** A failed run has a failed agent, also where a person fails it. */
    @Test
    void aFailedRunHasAFailedAgent() {
        String run = api.create(ApiServer.WAITS);
        api.post("/api/v1/runs/" + run + "/start", "{}");
        api.awaitStep(run, "waiting_approval");
        Answer failed = api.post("/api/v1/runs/" + run + "/fail", "{}");
        assertThat(failed.status()).as(failed.text()).isEqualTo(200);
        assertThat(api.run(run).get("cancelled_at").isNull()).isTrue();
        assertThat(api.get("/api/v1/runs/" + run + "/agents").json().get("items"))
                .anyMatch(agent -> agent.get("state").stringValue().equals("failed"));
    }

    /** "If run.status = COMPLETED: all agents are COMPLETED", with a task that a person cancelled. */
    @Test
    void aCompletedRunHasCompletedAgents() {
        String run = api.create("""
                {"name": "one of two", "start": true, "plan": {"tasks": [
                  {"id": "done", "steps": [{"name": "a", "tool": "noop"}]},
                  {"id": "not", "steps": [{"name": "b", "kind": "approval"}]}]}}""");
        api.awaitStep(run, "waiting_approval");
        String task = api.get("/api/v1/runs/" + run + "/tasks").json().get("items").valueStream()
                .filter(each -> each.get("key").stringValue().equals("not")).findFirst().orElseThrow().get("id")
                .stringValue();
        assertThat(api.post("/api/v1/tasks/" + task + "/cancel", "{}").status()).isEqualTo(200);
        api.awaitState(run, "completed");
        assertThat(agents(run)).containsExactly("completed");
    }

    /** Where a person is asked about a result: the last agent continues until the answer. */
    @Test
    void aRunWhoseResultWaitsHasAnAgentAtWork() {
        String run = awaitAcceptance();
        assertThat(agents(run)).containsExactly("completed", "running");
        assertThat(api.post("/api/v1/runs/" + run + "/approve", "{}").status()).isEqualTo(200);
        assertThat(api.run(run).get("state").stringValue()).isEqualTo("completed");
        assertThat(agents(run)).containsExactly("completed", "completed");
    }

    @Test
    void aRunWhoseResultIsRejectedHasAFailedAgent() {
        String run = awaitAcceptance();
        assertThat(api.post("/api/v1/runs/" + run + "/reject", "{}").status()).isEqualTo(200);
        assertThat(api.run(run).get("error_code").stringValue()).isEqualTo("RESULT_REJECTED");
        assertThat(agents(run)).containsExactly("completed", "failed");
    }

    @Test
    void aRunWithoutAnOutputHasAFailedAgent() {
        String run = api.create("""
                {"name": "no output", "start": true, "output": "${ 1 / 0 }", "plan": %s}"""
                .formatted(TWO_AGENTS));
        assertThat(api.awaitState(run, "failed").get("error_code").stringValue()).isEqualTo("EXPRESSION_FAILED");
        assertThat(agents(run)).containsExactly("completed", "failed");
    }

    /** A run that a person fails right after its resumption, when its agent has not taken up its work again. */
    @Test
    void aRunThatFailsAfterAPauseHasAFailedAgent() {
        api.post("/api/v1/dispatch/claim", CLAIM.formatted(0));
        String run = api.create("""
                {"name": "paused", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
                  {"name": "one", "tool": "test.handoff"}, {"name": "two", "tool": "test.handoff"}]}]}}""");
        JsonNode step = api.post("/api/v1/dispatch/claim", CLAIM.formatted(20_000)).json().at("/items/0");
        assertThat(api.post("/api/v1/runs/" + run + "/pause", "{}").status()).isEqualTo(200);
        assertThat(agents(run)).containsExactly("paused");
        assertThat(api.post("/api/v1/dispatch/release", """
                {"worker_id": "w", "items": [{"step_id": %s, "lease_epoch": %s}]}""".formatted(step.get("step_id"),
                step.get("lease_epoch"))).json().at("/items/0/status").stringValue()).isEqualTo("ok");
        assertThat(api.post("/api/v1/runs/" + run + "/resume", "{}").status()).isEqualTo(200);
        assertThat(api.post("/api/v1/runs/" + run + "/fail", "{}").status()).isEqualTo(200);
        assertThat(agents(run)).containsExactly("failed");
    }

    /** Nothing of a run that is pending was spawned, so no agent of one that fails there has failed. */
    @Test
    void aRunThatFailsBeforeItBeginsHasNoFailedAgent() {
        String run = api.create("""
                {"name": "plan", "start": true, "config": {"autonomy": {"level": "approve"}}, "plan": %s}"""
                .formatted(TWO_AGENTS));
        api.awaitState(run, "awaiting_approval");
        assertThat(agents(run)).containsExactly("pending", "pending");
        assertThat(api.post("/api/v1/runs/" + run + "/reject", "{}").status()).isEqualTo(200);
        assertThat(api.run(run).get("error_code").stringValue()).isEqualTo("PLAN_REJECTED");
        assertThat(agents(run)).containsExactly("cancelled", "cancelled");
    }

    private String awaitAcceptance() {
        String run = api.create("""
                {"name": "accepted", "start": true, "config": {"acceptance": "human"}, "plan": %s}"""
                .formatted(TWO_AGENTS));
        Awaitility.await().until(() -> events(run, "run_acceptance_requested"), asked -> asked == 1);
        return run;
    }

    private List<String> agents(String run) {
        return api.get("/api/v1/runs/" + run + "/agents").json().get("items").valueStream()
                .map(agent -> agent.get("state").stringValue()).toList();
    }

    /** {@code delay_ms = 100 * (2 ** attempt)}, three attempts, and the step is completed or failed. */
    @Test
    void aStepIsTriedThreeTimes() {
        String run = api.create("""
                {"name": "tries", "start": true, "plan": {"tasks": [{"id": "t", "retry": {"max_attempts": 1}, "steps": [
                  {"name": "flaky", "tool": "fail", "input": {"times": 3}, "retry": {"preset": "steps",
                   "max_attempts": 3, "base_delay_seconds": 0.1, "factor": 2, "jitter": 0}}]}]}}""");
        api.awaitState(run, "failed");
        JsonNode step = api.get("/api/v1/runs/" + run + "/steps").json().at("/items/0");
        Quoted.assertHolds(step, Quoted.json("""
                {"state": "failed", "attempt": 3, "max_attempts": 3}"""));
        List<Double> delays = api.get("/api/v1/runs/" + run + "/events?limit=500").json().get("items").valueStream()
                .filter(event -> event.get("event_type").stringValue().equals("step_retrying"))
                .map(event -> event.at("/payload/retry_after_seconds").doubleValue()).toList();
        assertThat(delays).containsExactly(0.1, 0.2);
    }

    private long events(String run, String type) {
        return api.get("/api/v1/runs/" + run + "/events?limit=500").json().get("items").valueStream()
                .filter(event -> event.get("event_type").stringValue().equals(type)).count();
    }

    private long events(String run) {
        return api.get("/api/v1/runs/" + run + "/events?limit=500").json().get("items").size();
    }
}
