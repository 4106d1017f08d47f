package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.json.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Runs over HTTP, from their creation to their end. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RunApiTest {

    private static final String RUNS = "/api/v1/runs";

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    private ApiServer.Answer act(String run, String action, String body) {
        ApiServer.Answer answer = api.post(RUNS + "/" + run + "/" + action, body);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer;
    }

    private List<JsonNode> items(String path) {
        ApiServer.Answer answer = api.get(path);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().get("items").valueStream().toList();
    }

    /** A run whose approval waits for its decision. */
    private String waiting() {
        String run = api.create(ApiServer.WAITS);
        act(run, "start", "");
        api.awaitStep(run, "waiting_approval");
        return run;
    }

    @Test
    void longValuesAreLeftOutOfListsAndReadOneByOne() {
        String run = api.create("""
                {"name": "long", "start": true, "plan": {"tasks": [{"id": "t", "steps": [
                  {"name": "short", "tool": "echo", "input": {"text": "x"}},
                  {"name": "long", "tool": "echo", "input": {"text": "%s"}}]}]}}""".formatted("x".repeat(20_000)));
        api.awaitState(run, "completed");

        JsonNode steps = api.get("/api/v1/runs/" + run + "/steps").json().get("items");
        assertThat(steps.get(0).get("output").isNull()).isFalse();
        assertThat(steps.get(0).get("omitted").toString()).isEqualTo("[]");
        assertThat(steps.get(1).get("input").isNull()).isTrue();
        assertThat(steps.get(1).get("output").isNull()).isTrue();
        assertThat(steps.get(1).get("omitted").toString()).isEqualTo("[\"input\",\"output\"]");
        JsonNode step = api.get("/api/v1/steps/" + steps.get(1).get("id").stringValue()).json();
        assertThat(step.get("input").toString()).hasSizeGreaterThan(20_000);
        assertThat(step.get("output").toString()).hasSizeGreaterThan(20_000);

        JsonNode task = api.get("/api/v1/runs/" + run + "/tasks").json().get("items").get(0);
        assertThat(task.get("output").isNull()).isTrue();
        assertThat(task.get("omitted").toString()).isEqualTo("[\"output\"]");
        assertThat(api.get("/api/v1/tasks/" + task.get("id").stringValue()).json().get("output").toString())
                .hasSizeGreaterThan(20_000);
    }

    @Test
    void aCallThatWaitsForTheEndIsHeldOpenUntilThen() {
        String run = waiting();
        assertThat(api.get(RUNS + "/" + run + "?wait_ms=1").json().get("state").stringValue()).isEqualTo("running");

        CompletableFuture<ApiServer.Answer> held = CompletableFuture
                .supplyAsync(() -> api.get(RUNS + "/" + run + "?wait_ms=60000"));
        act(run, "approve", "{}");

        assertThat(held.join().json().get("state").stringValue()).isEqualTo("completed");
        assertThat(api.get(RUNS + "/" + run + "?wait_ms=60000").json().get("state").stringValue())
                .isEqualTo("completed");
    }

    @Test
    void aRunIsCreatedStartedApprovedAndCompleted() {
        ApiServer.Answer created = api.post(RUNS, ApiServer.WAITS);
        String run = created.json().get("id").stringValue();
        assertThat(created.status()).isEqualTo(201);
        assertThat(created.header("Location")).isEqualTo(RUNS + "/" + run);
        assertThat(created.json().get("state").stringValue()).isEqualTo("created");
        assertThat(created.json().get("status").stringValue()).isEqualTo("created");

        act(run, "start", "{}");
        api.awaitStep(run, "waiting_approval");
        assertThat(act(run, "approve", "{\"reason\": \"fine\"}").json().get("id").stringValue()).isEqualTo(run);
        JsonNode ended = api.awaitState(run, "completed");

        assertThat(ended.get("state_type").stringValue()).isEqualTo("terminal");
        assertThat(ended.get("completed_at").stringValue())
                .matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z");
        assertThat(items(RUNS + "/" + run + "/tasks")).hasSize(1)
                .allMatch(task -> task.get("state").stringValue().equals("completed"));
        assertThat(items(RUNS + "/" + run + "/steps")).hasSize(1);
        assertThat(items(RUNS + "/" + run + "/attempts")).hasSize(1);
        assertThat(items(RUNS + "/" + run + "/agents")).hasSize(1);
        assertThat(items(RUNS + "/" + run + "/artifacts")).isEmpty();
    }

    @Test
    void numbersKeepTheirDigitsFromStepToStep() {
        String run = api.create("""
                {"name": "digits", "start": true, "inputs": {"x": {"type": "number"}},
                 "input": {"x": 12345678901234567890.123}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"tool": "echo", "input": {"x": "${ .inputs.x }", "y": 0.1000000000000000055}}]},
                  {"id": "b", "depends_on": ["a"], "steps": [{"tool": "echo", "input": {"of": "${ .tasks.a.output }"}}]}]},
                 "output": {"of_b": "${ .tasks.b.output.of }", "text": "${ .tasks.b.output.of.y }!",
                  "jq": "${ [.tasks.b.output.of.x] | first }", "more": "${ .tasks.b.output.of.y + 1 > 1.05 }"}}""");

        JsonNode summary = api.awaitState(run, "completed").get("result_summary");
        assertThat(Json.read(summary.stringValue().getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(api.run(run).get("output"));
        assertThat(api.awaitState(run, "completed").get("output")).isEqualTo(Json.read("""
                {"of_b": {"x": 12345678901234567890.123, "y": 0.1000000000000000055}, "text": "0.1000000000000000055!",
                 "jq": 12345678901234567890.123, "more": true}""".getBytes()));
    }

    @Test
    void theStatusDocumentIsTheContracts() {
        String run = waiting();

        JsonNode status = api.get("/runs/" + run + "/status").json();

        assertThat(status.propertyNames()).containsExactly("run_id", "agent_slug", "status", "trigger", "started_at",
                "finished_at", "current_step", "steps_total", "steps_completed", "proposals_created", "error");
        assertThat(status.get("run_id").stringValue()).isEqualTo("run_" + run);
        assertThat(status.get("status").stringValue()).isEqualTo("running");
        assertThat(status.get("current_step").stringValue()).isEqualTo("sign-off");
        assertThat(status.get("trigger").stringValue()).isEqualTo("api");
        assertThat(status.get("finished_at").isNull()).isTrue();
        assertThat(status.get("error").isNull()).isTrue();

        act(run, "cancel", "{\"reason\": \"not today\"}");
        JsonNode end = api.get("/api/v1/runs/run_" + run + "/status").json();
        assertThat(end.get("status").stringValue()).isEqualTo("failed");
        assertThat(end.get("error").stringValue()).isEqualTo("RUN_CANCELLED: not today");
        assertThat(end.get("finished_at").isNull()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/status", "/events", "/tasks", "/steps", "/attempts", "/agents", "/artifacts"})
    void thePathsOfTheContractsAreTheSameHandlers(String what) {
        String run = api.create(ApiServer.WAITS);

        assertThat(api.get("/runs/" + run + what).text()).isEqualTo(api.get(RUNS + "/run_" + run + what).text());
    }

    @Test
    void anUnchangedRunIsNotSentAgain() {
        String run = api.create(ApiServer.WAITS);
        String tag = api.get(RUNS + "/" + run).header("ETag");

        for (String path : List.of(RUNS + "/" + run, RUNS + "/" + run + "/status")) {
            String current = api.get(path).header("ETag");
            ApiServer.Answer again = api.get(path, "If-None-Match", "\"other\", W/" + current);
            assertThat(again.status()).isEqualTo(304);
            assertThat(again.text()).isEmpty();
            assertThat(again.header("ETag")).isEqualTo(current);
        }
        act(run, "cancel", "");
        assertThat(api.get(RUNS + "/" + run, "If-None-Match", tag).status()).isEqualTo(200);
    }

    @Test
    void eventsHaveNoGapAndPageWithoutLoss() {
        String run = waiting();
        act(run, "approve", "");
        api.awaitState(run, "completed");

        List<Long> seen = new ArrayList<>();
        String cursor = "";
        do {
            JsonNode page = api.get(RUNS + "/" + run + "/events?limit=3" + cursor).json();
            page.get("items").forEach(event -> seen.add(event.get("seq").longValue()));
            cursor = page.get("next_cursor").isNull() ? null : "&cursor=" + page.get("next_cursor").stringValue();
        } while (cursor != null);

        assertThat(seen).hasSizeGreaterThan(5)
                .containsExactlyElementsOf(LongStream.rangeClosed(1, seen.size()).boxed().toList());
        assertThat(items(RUNS + "/" + run + "/events?after=" + (seen.size() - 2))).hasSize(2);
    }

    @Test
    void aCallForEventsIsHeldUntilOneHappens() throws Exception {
        String run = api.create(ApiServer.WAITS);
        long last = items(RUNS + "/" + run + "/events").getLast().get("seq").longValue();

        CompletableFuture<ApiServer.Answer> held = CompletableFuture.supplyAsync(
                () -> api.get(RUNS + "/" + run + "/events?wait_ms=20000&after=" + last));
        assertThat(held).isNotDone();
        act(run, "cancel", "");

        assertThat(held.get().json().get("items").get(0).get("event_type").stringValue()).isEqualTo("run_cancelled");
    }

    @Test
    void aRejectedRunFailsAndIsRetried() {
        String run = waiting();

        act(run, "reject", "{\"reason\": \"no\"}");
        JsonNode failed = api.awaitState(run, "failed");
        assertThat(failed.get("error_code").stringValue()).isEqualTo("APPROVAL_REJECTED");

        JsonNode again = act(run, "retry", "{\"from\": \"start\"}").json();
        assertThat(again.get("attempt_number").intValue()).isEqualTo(2);
        api.awaitStep(run, "waiting_approval");
        act(run, "approve", "{\"reason\": null}");
        api.awaitState(run, "completed");
        assertThat(items(RUNS + "/" + run + "/attempts")).hasSize(2);
        assertThat(items(RUNS + "/" + run + "/steps?attempt=1")).hasSize(1)
                .allMatch(step -> step.get("state").stringValue().equals("failed"));
    }

    @Test
    void oneDecisionHolds() {
        String run = waiting();
        String step = items(RUNS + "/" + run + "/steps").getFirst().get("id").stringValue();

        assertThat(api.post("/api/v1/steps/" + step + "/approve", "").json().get("state").stringValue())
                .isEqualTo("completed");
        assertThat(api.post("/api/v1/steps/" + step + "/approve", "").status()).isEqualTo(200);
        ApiServer.Answer refused = api.post("/api/v1/steps/" + step + "/reject", "");

        assertThat(refused.status()).isEqualTo(409);
        assertThat(refused.json().get("code").stringValue()).isEqualTo("APPROVAL_ALREADY_DECIDED");
        api.awaitState(run, "completed");
    }

    @Test
    void severalWaitingApprovalsMustBeNamed() {
        String run = api.create("""
                {"name": "two", "start": true, "plan": {"tasks": [
                  {"id": "a", "title": "A", "steps": [{"name": "x", "kind": "approval", "input": {"question": "?"}}]},
                  {"id": "b", "title": "B", "steps": [{"name": "y", "kind": "approval", "input": {"question": "?"}}]}
                ]}}""");
        api.awaitSteps(run, "waiting_approval", 2);

        ApiServer.Answer refused = api.post(RUNS + "/" + run + "/approve", "");

        assertThat(refused.status()).isEqualTo(409);
        assertThat(refused.json().get("code").stringValue()).isEqualTo("APPROVAL_AMBIGUOUS");
        assertThat(refused.json().get("allowed").toString()).contains("a/x").contains("b/y");
    }

    @Test
    void aMissionMayBeYaml() {
        byte[] yaml = """
                name: in yaml
                plan:
                  tasks:
                    - {id: one, title: One, steps: [{name: say, tool: echo, input: {value: 1}}]}
                """.getBytes(StandardCharsets.UTF_8);

        ApiServer.Answer answer = api.send("POST", RUNS, yaml, "Content-Type", "application/yaml");

        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        assertThat(answer.json().get("name").stringValue()).isEqualTo("in yaml");
    }

    @Test
    void anExternalIdIsTakenOnce() {
        String mission = ApiServer.WAITS.replaceFirst("\\{", "{\"external_id\": \"order 7\", ");
        String run = api.create(mission);

        ApiServer.Answer refused = api.post(RUNS, mission);

        assertThat(refused.status()).isEqualTo(409);
        assertThat(refused.json().get("code").stringValue()).isEqualTo("EXTERNAL_ID_TAKEN");
        assertThat(refused.json().get("run_id").stringValue()).isEqualTo(run);
        assertThat(api.get(RUNS + "?external_id=order%207").json().get("items").valueStream()
                .map(each -> each.get("id").stringValue())).containsExactly(run);
        assertThat(api.get(RUNS + "?external_id=order%207&state=failed").json().get("items").isEmpty()).isTrue();
    }

    @Test
    void theRunWithAnExternalIdIsTheAnswerWhereThatIsAskedFor() {
        String mission = ApiServer.WAITS.replaceFirst("\\{",
                "{\"external_id\": \"order 8\", \"external_id_policy\": \"existing\", ");
        String run = api.create(mission);

        ApiServer.Answer again = api.post(RUNS, mission);
        assertThat(again.status()).isEqualTo(200);
        assertThat(again.json().get("id").stringValue()).isEqualTo(run);
        act(run, "cancel", "");
        assertThat(api.post(RUNS, mission).json().get("state").stringValue()).isEqualTo("cancelled");
    }

    @Test
    void anExternalIdIsTakenOverFromARunThatHasEnded() {
        String mission = ApiServer.WAITS.replaceFirst("\\{",
                "{\"external_id\": \"order 9\", \"external_id_policy\": \"after_end\", ");
        String first = api.create(mission);
        assertThat(api.post(RUNS, mission).json().get("code").stringValue()).isEqualTo("EXTERNAL_ID_TAKEN");

        act(first, "cancel", "");
        String second = api.create(mission);
        assertThat(second).isNotEqualTo(first);
        assertThat(api.get(RUNS + "/" + first).json().get("external_id").isNull()).isTrue();
        assertThat(api.get(RUNS + "/" + second).json().get("external_id").stringValue()).isEqualTo("order 9");
    }

    /** Of concurrent requests, one is accepted under every policy. */
    @ParameterizedTest
    @ValueSource(strings = {"reject", "existing", "after_end"})
    void ofManyAtOnceOneIsMade(String policy) throws Exception {
        String mission = ApiServer.WAITS.replaceFirst("\\{",
                "{\"external_id\": \"race " + policy + "\", \"external_id_policy\": \"" + policy + "\", ");
        List<ApiServer.Answer> answers = new ArrayList<>();
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            Callable<ApiServer.Answer> create = () -> api.post(RUNS, mission);
            for (var call : callers.invokeAll(Collections.nCopies(8, create))) {
                answers.add(call.get());
            }
        }
        List<Integer> statuses = answers.stream().map(ApiServer.Answer::status).sorted().toList();
        assertThat(statuses).containsOnlyOnce(201);
        assertThat(statuses.stream().filter(status -> status != 201))
                .containsOnly(policy.equals("existing") ? 200 : 409);
        assertThat(answers.stream().map(each -> each.json().path(each.status() == 409 ? "run_id" : "id").asString())
                .distinct()).hasSize(1);
    }

    @Test
    void aListIsPagedInAStableOrderAndFiltered() {
        List<String> made = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            made.addFirst(api.create(ApiServer.WAITS.replaceFirst("\\{", "{\"tags\": [\"paged\"], ")));
        }
        act(made.get(2), "cancel", "");

        List<String> seen = new ArrayList<>();
        JsonNode page = api.get(RUNS + "?tag=paged&limit=2").json();
        while (true) {
            page.get("items").forEach(run -> seen.add(run.get("id").stringValue()));
            if (page.get("next_cursor").isNull()) {
                break;
            }
            page = api.get(RUNS + "?tag=paged&limit=2&cursor=" + page.get("next_cursor").stringValue()).json();
        }

        assertThat(seen).isEqualTo(made);
        assertThat(items(RUNS + "?tag=paged&state=cancelled")).hasSize(1);
        assertThat(items(RUNS + "?tag=paged&state_type=pending")).hasSize(4);
        assertThat(items(RUNS + "?tag=page")).isEmpty();
    }

    /** Children of a fan-out stand between the tasks of the plan, parallel steps beside each other. */
    @ParameterizedTest
    @ValueSource(strings = {"tasks", "steps"})
    void tasksAndStepsArePagedInPlanOrder(String what) {
        String run = api.create("""
                {"name": "many", "start": true, "plan": {"tasks": [
                  {"id": "a", "title": "A", "for_each": "${ [1, 2, 3] }", "steps": [
                    {"name": "x", "tool": "noop"}, {"name": "y", "tool": "noop"}]},
                  {"id": "b", "title": "B", "depends_on": ["a"], "steps": [{"name": "z", "tool": "noop"}]}]}}""");
        api.awaitState(run, "completed");
        List<JsonNode> all = items(RUNS + "/" + run + "/" + what);

        for (int limit = 1; limit <= all.size(); limit++) {
            List<JsonNode> seen = new ArrayList<>();
            String cursor = "";
            do {
                JsonNode page = api.get(RUNS + "/" + run + "/" + what + "?limit=" + limit + cursor).json();
                page.get("items").forEach(seen::add);
                cursor = page.get("next_cursor").isNull() ? null : "&cursor=" + page.get("next_cursor").stringValue();
            } while (cursor != null);
            assertThat(seen).as("limit " + limit).isEqualTo(all);
        }
        assertThat(all).hasSize(what.equals("tasks") ? 5 : 7);
        String other = api.create(ApiServer.WAITS);
        String cursor = api.get(RUNS + "/" + run + "/" + what + "?limit=1").json().get("next_cursor").stringValue();
        assertThat(api.get(RUNS + "/" + other + "/" + what + "?cursor=" + cursor).json().get("code").stringValue())
                .isEqualTo("INVALID_CURSOR");
    }

    @Test
    void engineMetricsAreServed() {
        assertThat(items("/api/v1/tools")).extracting(tool -> tool.get("name").stringValue()).contains("echo", "wait");
        assertThat(api.get("/healthz", "Authorization", "").status()).isEqualTo(200);
        assertThat(api.get("/readyz", "Authorization", "").status()).isEqualTo(200);
    }

    @Test
    void anotherWorkspacesRunIsAnsweredAsNone() {
        String run = waiting();
        String task = items(RUNS + "/" + run + "/tasks").getFirst().get("id").stringValue();
        String step = items(RUNS + "/" + run + "/steps").getFirst().get("id").stringValue();
        String key = api.stranger();
        List<String> reads = List.of("/runs/@", "/runs/@/status", "/runs/@/states", "/runs/@/explain", "/runs/@/events",
                "/runs/@/tasks",
                "/runs/@/steps",
                "/runs/@/attempts", "/runs/@/agents", "/runs/@/artifacts");
        List<String> writes = List.of("start", "pause", "resume", "cancel", "retry", "approve", "reject");

        for (String path : reads) {
            assertSame(key, "GET", path, run);
        }
        for (String action : writes) {
            assertSame(key, "POST", "/runs/@/" + action, run);
        }
        assertSame(key, "GET", "/tasks/@", task);
        assertSame(key, "GET", "/tasks/@/explain", task);
        assertSame(key, "GET", "/steps/@/explain", step);
        assertSame(key, "GET", "/steps/@", step);
        assertSame(key, "GET", "/steps/@/logs", step);
        assertSame(key, "POST", "/steps/@/approve", step);
        assertSame(key, "POST", "/steps/@/reject", step);
        assertThat(api.get(RUNS, "Authorization", key).json().get("items").isEmpty()).isTrue();
        assertThat(api.run(run).get("state").stringValue()).isEqualTo("running");
    }

    private void assertSame(String key, String method, String path, String foreign) {
        String none = UUID.randomUUID().toString();
        ApiServer.Answer theirs = api.send(method, "/api/v1" + path.replace("@", foreign), null, "Authorization", key);
        ApiServer.Answer nobodys = api.send(method, "/api/v1" + path.replace("@", none), null, "Authorization", key);

        assertThat(theirs.status()).as(path).isEqualTo(404);
        assertThat(theirs.text()).as(path).isEqualTo(nobodys.text().replace(none, foreign));
    }
}
