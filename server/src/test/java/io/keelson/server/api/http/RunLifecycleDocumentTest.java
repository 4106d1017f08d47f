package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer.Answer;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The examples of the run lifecycle document as written. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RunLifecycleDocumentTest {

    private static final String RUNNING = """
            {
              "run_id": "run_2026-02-14_080000_abc123",
              "agent_slug": "archivist-violin",
              "status": "running",
              "trigger": "manual",
              "started_at": "2026-02-14T08:00:00Z",
              "finished_at": null,
              "current_step": "execute-agent",
              "steps_total": 4,
              "steps_completed": 1,
              "proposals_created": [],
              "error": null
            }""";
    private static final String COMPLETED = """
            {
              "run_id": "run_2026-02-14_080000_abc123",
              "agent_slug": "archivist-violin",
              "status": "completed",
              "trigger": "manual",
              "started_at": "2026-02-14T08:00:00Z",
              "finished_at": "2026-02-14T08:03:45Z",
              "current_step": "finalize",
              "steps_total": 4,
              "steps_completed": 4,
              "proposals_created": ["prop_2026-02-14_xyz789"],
              "error": null
            }""";
    private static final String FAILED = """
            {
              "run_id": "run_2026-02-14_080000_abc123",
              "agent_slug": "archivist-violin",
              "status": "failed",
              "trigger": "cron",
              "started_at": "2026-02-14T08:00:00Z",
              "finished_at": "2026-02-14T08:02:15Z",
              "current_step": "execute-agent",
              "steps_total": 4,
              "steps_completed": 1,
              "proposals_created": [],
              "error": "AGENT_TIMEOUT: execution exceeded 600s limit"
            }""";
    private static final String STREAM = """
            {"type": "run.status.changed", "runId": "...", "status": "completed"}
            {"type": "run.step.completed", "runId": "...", "step": 3}
            {"type": "proposal.created", "proposalId": "..."}
            """;
    private static final String WAITS = "signal.wait\", \"input\": {\"name\": \"answer\"}";

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    /** @param work the tool of the second of its four steps, and its input */
    private String run(String trigger, String work) {
        return api.create("""
                {"name": "violins", "agent_slug": "archivist-violin", "trigger": "%s", "start": true, "plan": {"tasks": [
                  {"id": "run", "steps": [
                    {"name": "load-context", "tool": "noop"},
                    {"name": "execute-agent", "tool": "%s},
                    {"name": "create-proposals", "tool": "proposal.create", "input": {"title": "Tune it"}},
                    {"name": "finalize", "tool": "noop"}]}]}}""".formatted(trigger, work));
    }

    private JsonNode status(String run) {
        Answer answer = api.get("/runs/" + run + "/status");
        assertThat(answer.status()).isEqualTo(200);
        return answer.json();
    }

    @Test
    void statusOfARunAtWorkAndOfACompletedRun() {
        String run = run("manual", WAITS);
        api.awaitStep(run, "waiting");
        JsonNode running = status(run);
        String tag = api.get("/runs/" + run + "/status").header("ETag");
        Quoted.assertSame(running, Quoted.json(RUNNING, "run_2026-02-14_080000_abc123", "run_" + run,
                "2026-02-14T08:00:00Z", Quoted.time(running, "started_at")));

        assertThat(api.post("/api/v1/runs/" + run + "/signals/answer", "{}").status()).isEqualTo(200);
        api.awaitState(run, "completed");

        assertThat(api.get("/runs/" + run + "/status", "If-None-Match", tag).json()).isEqualTo(status(run));
        JsonNode completed = status(run);
        String proposal = api.get("/proposals/pending?run_id=run_" + run).json().at("/items/0/id").stringValue();
        Quoted.assertSame(completed, Quoted.json(COMPLETED, "run_2026-02-14_080000_abc123", "run_" + run,
                "2026-02-14T08:00:00Z", Quoted.time(running, "started_at"), "2026-02-14T08:03:45Z",
                Quoted.time(completed, "finished_at"), "prop_2026-02-14_xyz789", "prop_" + proposal));
        api.awaitFeed();
        List<String> events = api.get("/events/stream?after=0&wait_ms=0&run_id=run_" + run).text().lines()
                .filter(line -> line.startsWith("data: ")).map(line -> line.substring(6)).toList();
        for (String line : STREAM.lines().toList()) {
            JsonNode document = line.contains("proposalId") ? Quoted.json(line, "...", "prop_" + proposal)
                    : Quoted.json(line, "...", run);
            assertThat(events.stream().map(event -> Quoted.json(event)).filter(event -> document.properties().stream()
                    .allMatch(member -> member.getValue().equals(event.get(member.getKey()))))).as(line).hasSize(1);
        }
    }

    @Test
    void theStatusOfARunThatFailed() {
        String run = run("cron", """
                fail", "input": {"code": "AGENT_TIMEOUT", "class": "permanent",
                "message": "execution exceeded 600s limit"}""");
        api.awaitState(run, "failed");
        JsonNode failed = status(run);
        Quoted.assertSame(failed, Quoted.json(FAILED, "run_2026-02-14_080000_abc123", "run_" + run,
                "2026-02-14T08:00:00Z", Quoted.time(failed, "started_at"), "2026-02-14T08:02:15Z",
                Quoted.time(failed, "finished_at"), "execution exceeded",
                "task 'run' failed: execution exceeded"));
    }

    /** Timeouts of all kinds. */
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
            the run  | {"timeouts": {"run_max_duration_seconds": 1}} | 60  | RUN_TIMEOUT
            the task | {"timeouts": {"task_seconds": 1}}             | 60  | TASK_TIMEOUT
            the step | {}                                            | 0.5 | STEP_TIMEOUT
            """)
    void lateWorkIsAnAgentTimeout(String what, String config, String seconds, String code) {
        String claim = "{\"worker_id\": \"slow\", \"tools\": [\"test.slow\"], \"max\": 1, \"wait_ms\": %d}";
        api.post("/api/v1/dispatch/claim", claim.formatted(0));
        String run = api.create("""
                {"name": "slow", "agent_slug": "archivist-violin", "start": true, "config": %s, "plan": {"tasks": [
                  {"id": "run", "retry": {"max_attempts": 1}, "steps": [{"name": "execute-agent", "tool": "test.slow",
                   "timeout_seconds": %s, "retry": {"max_attempts": 1}}]}]}}""".formatted(config, seconds));
        assertThat(api.post("/api/v1/dispatch/claim", claim.formatted(20_000)).json().get("items")).hasSize(1);
        JsonNode failed = api.awaitState(run, "failed");
        assertThat(failed.get("error_code").stringValue()).isEqualTo(code);
        assertThat(status(run).get("error").stringValue())
                .isEqualTo("AGENT_TIMEOUT: " + failed.get("error_message").stringValue());
    }

    /** What is unavailable, and retries that are exhausted. */
    @ParameterizedTest(name = "{0} {1}")
    @CsvSource(delimiter = '|', textBlock = """
            MODEL_UNAVAILABLE     | infrastructure | NLM_UNAVAILABLE      | 502
            ARTIFACT_STORE_FAILED | infrastructure | UPSTREAM_UNAVAILABLE | 502
            STEP_TIMEOUT          | infrastructure | AGENT_TIMEOUT        | 504
            BROKEN                | infrastructure | INTERNAL_ERROR       | 500
            BROKEN                | quality        | INTERNAL_ERROR       | 500
            """)
    void namesOfFailedRuns(String code, String errorClass, String error, int httpStatus) {
        String run = failing(code, errorClass);
        JsonNode failed = api.awaitState(run, "failed");
        assertThat(failed.get("error_code").stringValue()).isEqualTo(code);
        assertThat(status(run).get("error").stringValue())
                .isEqualTo(error + ": " + failed.get("error_message").stringValue());
        Quoted.assertHolds(api.get("/api/v1/runs/" + run + "/states").json().at("/contracts/lifecycle"), Quoted.json("""
                        {"run": "failed", "error_code": "%s", "http_status": %d}""".formatted(error, httpStatus)));
        JsonNode published = api.get("/api/v1/lifecycles/lifecycle").json().get("errors").valueStream()
                .filter(each -> each.get("code").stringValue().equals(error)).findFirst().orElseThrow();
        assertThat(published.get("http_status").intValue()).isEqualTo(httpStatus);
    }

    /** An error that is never retried is none of the contract's retryable errors. */
    @Test
    void aPermanentErrorKeepsItsCode() {
        String run = failing("BROKEN", "permanent");
        api.awaitState(run, "failed");
        assertThat(status(run).get("error").stringValue()).startsWith("BROKEN: task 'run' failed: ");
        JsonNode states = api.get("/api/v1/runs/" + run + "/states").json().at("/contracts/lifecycle");
        assertThat(states.propertyNames()).containsExactly("run");
    }

    /** The model that an agent's turn asks is not there. */
    @Test
    void aTurnThatCannotReachItsModel() {
        String claim = "{\"worker_id\": \"agents\", \"tools\": [\"agent.turn\"], \"max\": 1, \"wait_ms\": %d}";
        api.post("/api/v1/dispatch/claim", claim.formatted(0));
        String run = api.create("""
                {"name": "asks a model", "start": true, "plan": {"tasks": [
                  {"id": "run", "description": "Catalogue the violins", "retry": {"max_attempts": 1}}]}}""");
        JsonNode turn = api.post("/api/v1/dispatch/claim", claim.formatted(20_000)).json().at("/items/0");
        assertThat(api.post("/api/v1/dispatch/fail", """
                {"worker_id": "agents", "items": [{"step_id": "%s", "lease_epoch": %d, "error_code": "HTTP_CONNECT_FAILED",
                 "error_class": "permanent", "message": "no connection"}]}""".formatted(
                turn.get("step_id").stringValue(), turn.get("lease_epoch").intValue())).json().at("/items/0/status")
                .stringValue()).isEqualTo("ok");
        api.awaitState(run, "failed");
        assertThat(status(run).get("error").stringValue())
                .isEqualTo("NLM_UNAVAILABLE: task 'run' failed: no connection");
    }

    private String failing(String code, String errorClass) {
        return api.create("""
                {"name": "fails", "start": true, "plan": {"tasks": [{"id": "run", "steps": [{"name": "execute-agent",
                  "tool": "fail", "input": {"code": "%s", "class": "%s"}, "retry": {"max_attempts": 2, "base_delay_seconds": 0.01}
                  }]}]}}""".formatted(code, errorClass));
    }

    /** {@code requested → queued → running → completed | failed}, and nothing goes back. */
    @Test
    void statesAndTransitionsOfTheContract() {
        JsonNode machine = api.get("/api/v1/lifecycles/lifecycle").json();
        assertThat(machine.get("initial").stringValue()).isEqualTo("requested");
        assertThat(machine.get("transitions").valueStream()
                .map(way -> way.get("from").stringValue() + " --> " + way.get("to").stringValue())
                .filter(way -> !way.matches("(\\w+) --> \\1")).collect(Collectors.toSet()))
                .containsExactlyInAnyOrder("requested --> queued", "queued --> running", "running --> completed",
                        "running --> failed");
    }

    /** {@code queued → running: the first step begins}: not at a plan's gate, nor paused before its first step. */
    @Test
    void aRunIsQueuedUntilItsFirstStepBegins() {
        api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"w\", \"tools\": [\"test.later\"], \"wait_ms\": 0}");
        String run = api.create("""
                {"name": "gate", "start": true, "config": {"autonomy": {"level": "approve"}}, "plan": {"tasks": [
                  {"id": "run", "steps": [{"name": "a", "tool": "test.later"}]}]}}""");
        api.awaitState(run, "awaiting_approval");
        assertQueued(run);
        assertThat(api.post("/api/v1/runs/" + run + "/approve", "{}").status()).isEqualTo(200);
        assertThat(api.run(run).get("state").stringValue()).isEqualTo("ready");
        assertQueued(run);
        assertThat(api.post("/api/v1/runs/" + run + "/pause", "{}").status()).isEqualTo(200);
        assertQueued(run);
        assertThat(api.post("/api/v1/runs/" + run + "/resume", "{}").status()).isEqualTo(200);
        assertThat(status(run).get("status").stringValue()).isEqualTo("running");
        assertThat(api.post("/api/v1/runs/" + run + "/pause", "{}").status()).isEqualTo(200);
        assertThat(status(run).get("status").stringValue()).isEqualTo("running");
        assertThat(api.post("/api/v1/runs/" + run + "/cancel", "{}").status()).isEqualTo(200);
        assertThat(statuses(run)).containsExactly("requested", "queued", "running", "failed");
    }

    /** The same of a later attempt. */
    @Test
    void aRetriedRunIsQueuedUntilTheFirstStepOfItsAttemptBegins() {
        String claim = "{\"worker_id\": \"w\", \"tools\": [\"test.second\"], \"wait_ms\": 0}";
        api.post("/api/v1/dispatch/claim", claim);
        String run = api.create("""
                {"name": "again", "start": true, "plan": {"tasks": [
                  {"id": "run", "steps": [{"name": "a", "tool": "test.second"}]}]}}""");
        JsonNode item = api.post("/api/v1/dispatch/claim", claim).json().at("/items/0");
        Answer failed = api.post("/api/v1/dispatch/fail", """
                {"worker_id": "w", "items": [{"step_id": "%s", "lease_epoch": %d, "error_code": "BROKEN", "error_class": "permanent",
                  "message": "broken"}]}""".formatted(item.get("step_id").stringValue(),
                item.get("lease_epoch").intValue()));
        assertThat(failed.status()).as(failed.text()).isEqualTo(200);
        api.awaitState(run, "failed");

        api.post("/api/v1/runs/" + run + "/retry", "{}");
        Awaitility.await().until(() -> status(run).get("status").stringValue(), "queued"::equals);
        assertThat(api.post("/api/v1/runs/" + run + "/pause", "{}").status()).isEqualTo(200);
        assertQueued(run);
        api.post("/api/v1/runs/" + run + "/resume", "{}");
        assertThat(status(run).get("status").stringValue()).isEqualTo("running");
        api.post("/api/v1/runs/" + run + "/pause", "{}");
        assertThat(status(run).get("status").stringValue()).isEqualTo("running");
        api.post("/api/v1/runs/" + run + "/cancel", "{}");
        assertThat(statuses(run)).containsExactly("requested", "queued", "running", "failed", "requested", "queued",
                "running", "failed");
    }

    /** The statuses of the run that its events show, in order. */
    private List<String> statuses(String run) {
        api.awaitFeed();
        return api.get("/events/stream?after=0&wait_ms=0&run_id=run_" + run).text().lines()
                .filter(line -> line.startsWith("data: ")).map(line -> Quoted.json(line.substring(6)))
                .filter(event -> event.get("type").stringValue().equals("run.status.changed"))
                .map(event -> event.get("status").stringValue()).toList();
    }

    private void assertQueued(String run) {
        assertThat(status(run).get("status").stringValue()).isEqualTo("queued");
        assertThat(api.get("/api/v1/runs/" + run + "/states").json().at("/contracts/lifecycle/run").stringValue())
                .isEqualTo("queued");
    }

    /** {@code [*] --> requested : POST /agents/run} */
    @Test
    void anAgentsRunIsRequested() {
        assertThat(api.post("/api/v1/agents", """
                {"slug": "archivist-violin", "tools": ["noop"]}""").status()).isEqualTo(201);
        Answer requested = api.post("/agents/run", """
                {"agent_slug": "archivist-violin", "goal": "Catalogue the violins"}""");
        assertThat(requested.status()).as(requested.text()).isEqualTo(201);
        Quoted.assertHolds(requested.json(), Quoted.json("""
                {"agent_slug": "archivist-violin", "status": "requested"}"""));
        String run = requested.json().get("run_id").stringValue();
        assertThat(run).startsWith("run_");
        assertThat(api.get("/runs/" + run + "/status").json().get("run_id").stringValue()).isEqualTo(run);
    }

    /** What is polled answers, and says that nothing has changed. */
    @ParameterizedTest
    @CsvSource({"/runs/%s/status", "/inbox/stats", "/proposals/pending"})
    void pollAnswersNotModified(String path) {
        String run = api.create(ApiServer.WAITS);
        Answer first = api.get(path.formatted("run_" + run));
        assertThat(first.status()).as(first.text()).isEqualTo(200);
        assertThat(api.get(path.formatted("run_" + run), "If-None-Match", first.header("ETag")).status())
                .isEqualTo(304);
    }
}
