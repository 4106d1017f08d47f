package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer.Answer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Signals over HTTP: before, after, twice, at once, too late; what they may say and who may send them. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SignalApiTest {

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    /** A run with one task whose steps are those. */
    private String run(String steps) {
        return api.create("""
                {"name": "m", "start": true, "plan": {"tasks": [{"id": "a", "steps": [%s]}]},
                 "output": "${ .tasks.a.output }"}""".formatted(steps));
    }

    private static String step(String name, String input) {
        return """
                {"name": "%s", "tool": "signal.wait", "input": %s}""".formatted(name, input);
    }

    private Answer send(String run, String name, String payload, String... headers) {
        return api.post("/api/v1/runs/" + run + "/signals/" + name, "{\"payload\": " + payload + "}", headers);
    }

    @Test
    void signalBecomesTheStepsOutput() {
        String run = run(step("s", "{\"name\": \"paid\"}"));
        api.awaitStep(run, "waiting");
        JsonNode why = api.get("/api/v1/runs/" + run + "/explain").json();
        assertThat(why.at("/reasons/0/code").stringValue()).isEqualTo("SIGNAL");
        assertThat(why.at("/reasons/0/on/0").stringValue()).isEqualTo("paid");
        assertThat(send(run, "paid", "{\"amount\": 12}").status()).isEqualTo(200);
        assertThat(api.awaitState(run, "completed").at("/output/amount").intValue()).isEqualTo(12);
        assertThat(send(run, "paid", "1").json().get("code").stringValue()).isEqualTo("INVALID_STATE_TRANSITION");
    }

    @Test
    void earlySignalsAreTakenInOrderAfterARestart() {
        String run = api.create("""
                {"name": "m", "plan": {"tasks": [{"id": "a", "steps": [%s, %s]}]},
                 "output": ["${ .tasks.a.output }"]}""".formatted(step("one", "{\"name\": \"n\"}"),
                step("two", "{\"name\": \"n\"}")));
        send(run, "n", "1");
        send(run, "n", "2");
        send(run, "n", "3");
        api.sql("update run_heads set version_id = version_id + 1 where run_id = '" + run + "'");
        assertThat(api.post("/api/v1/runs/" + run + "/start", "{}").status()).isEqualTo(200);
        assertThat(api.awaitState(run, "completed").at("/output/0").intValue()).isEqualTo(2);
    }

    @Test
    void unexpectedSignalIsRefusedUnlessThePlanMayChange() {
        String run = run(step("s", "{\"name\": \"n\"}"));
        Answer refused = send(run, "m", "1");
        assertThat(refused.status()).isEqualTo(409);
        assertThat(refused.json().get("code").stringValue()).isEqualTo("SIGNAL_NOT_AWAITED");
        assertThat(send(run, "n", "1").json().get("awaited").booleanValue()).isTrue();
        String any = run(step("s", "{\"name\": \"${ \\\"a\\\" + \\\"b\\\" }\"}"));
        assertThat(send(any, "ab", "1").status()).isEqualTo(200);
        String planned = api.create("""
                {"name": "m", "start": true, "config": {"replan": {"planner": {"tool": "plan.fallback",
                   "input": {"rules": [{"when_failed": "a", "tasks": [{"id": "b", "steps": [{"tool": "echo"}]}]}]}}}},
                 "plan": {"tasks": [{"id": "a", "steps": [%s]}]}}""".formatted(step("s", "{\"name\": \"n\"}")));
        assertThat(send(planned, "m", "1").json().get("awaited").booleanValue()).isFalse();
    }

    @Test
    void aSignalIsRefusedOnceItsStepsHaveEnded() {
        String run = api.create("""
                {"name": "m", "start": true, "plan": {"tasks": [{"id": "a", "steps": [%s, %s]},
                  {"id": "b", "depends_on": ["c"], "for_each": "${ [1, 2] }", "steps": [%s]},
                  {"id": "c", "steps": [%s]}]}}""".formatted(step("once", "{\"name\": \"n\"}"),
                step("late", "{\"name\": \"o\", \"timeout_seconds\": 0.01, \"on_timeout\": \"continue\"}"),
                step("item", "{\"name\": \"each\"}"), step("end", "{\"name\": \"end\"}")));
        assertThat(send(run, "n", "1").status()).isEqualTo(200);
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> events(run, "task_completed").size() == 1);
        for (String ended : List.of("n", "o")) {
            assertThat(send(run, ended, "1").json().path("code").asString("")).isEqualTo("SIGNAL_NOT_AWAITED");
        }
        assertThat(send(run, "each", "1").json().get("awaited").booleanValue()).isTrue();
        assertThat(send(run, "each", "2").json().get("awaited").booleanValue()).isTrue();
        assertThat(send(run, "end", "1").status()).isEqualTo(200);
        api.awaitState(run, "completed");
    }

    @Test
    void underAKeyItIsSentOnce() {
        String run = run(step("one", "{\"name\": \"n\"}") + ", " + step("two", "{\"name\": \"n\"}"));
        api.awaitStep(run, "waiting");
        String key = UUID.randomUUID().toString();
        assertThat(send(run, "n", "1", "Idempotency-Key", key).status()).isEqualTo(200);
        assertThat(send(run, "n", "1", "Idempotency-Key", key).header("Idempotent-Replayed")).isEqualTo("true");
        assertThat(api.awaitSteps(run, "waiting", 1).getFirst().get("name").stringValue()).isEqualTo("two");
        assertThat(events(run, "signal_received")).hasSize(1);
    }

    @Test
    void atOnceEachGoesToOneStep() {
        String steps = IntStream.range(0, 3).mapToObj(i -> step("s" + i, "{\"name\": \"n\"}")).reduce(
                (one, other) -> one + ", " + other).orElseThrow();
        String run = api.create("""
                {"name": "m", "start": true, "plan": {"tasks": [{"id": "a", "parallelism": "parallel",
                  "steps": [%s]}]}}""".formatted(steps));
        api.awaitSteps(run, "waiting", 3);
        List<CompletableFuture<Answer>> sent = new ArrayList<>();
        IntStream.range(0, 3).forEach(i -> sent.add(CompletableFuture.supplyAsync(() -> send(run, "n", "" + i))));
        sent.forEach(answer -> assertThat(answer.join().status()).isEqualTo(200));
        api.awaitState(run, "completed");
        assertThat(api.awaitSteps(run, "completed", 3)).extracting(step -> step.get("output").intValue())
                .containsExactlyInAnyOrder(0, 1, 2);
    }

    @Test
    void missingSignalFailsTheStepOrContinues() {
        String fails = run(step("s", "{\"name\": \"n\", \"timeout_seconds\": 0.05}"));
        String goesOn = run(step("s", "{\"name\": \"n\", \"timeout_seconds\": 0.05, \"on_timeout\": \"continue\"}"));
        assertThat(api.awaitState(fails, "failed").get("error_code").stringValue()).isEqualTo("SIGNAL_TIMEOUT");
        assertThat(api.awaitState(goesOn, "completed").get("output").isNull()).isTrue();
    }

    @Test
    void signalInAPauseIsKeptWithoutProgress() {
        String run = run(step("s", "{\"name\": \"n\"}") + """
                , {"name": "t", "tool": "echo", "input": {"said": "${ .steps.s.output }"}}""");
        api.awaitStep(run, "waiting");
        api.post("/api/v1/runs/" + run + "/pause", "{}");
        assertThat(send(run, "n", "5").json().get("state").stringValue()).isEqualTo("paused");
        api.awaitStep(run, "pending");
        api.post("/api/v1/runs/" + run + "/resume", "{}");
        assertThat(api.awaitState(run, "completed").at("/output/said").intValue()).isEqualTo(5);
    }

    @Test
    void payloadMustMatchTheSchemaOfTheWaitingStep() {
        String run = run("{\"name\": \"first\", \"tool\": \"signal.wait\", \"input\": {\"name\": \"go\"}}, "
                + step("s", """
                        {"name": "paid", "schema": {"type": "object", "properties": {"amount": {"type": "number"}},
                         "required": ["amount"]}}"""));
        Answer refused = send(run, "paid", "{\"amount\": \"a lot\"}");
        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.json().at("/problems/0/pointer").stringValue()).isEqualTo("/payload/amount");
        assertThat(send(run, "paid", "{\"amount\": 1}").status()).isEqualTo(200);
        assertThat(send(run, "go", "null").status()).isEqualTo(200);
        assertThat(api.awaitState(run, "completed").at("/output/amount").intValue()).isEqualTo(1);
    }

    @Test
    void whatPostgresqlDoesNotStoreIsReplaced() {
        String run = run(step("s", "{\"name\": \"n\"}"));
        assertThat(send(run, "n", "\"a\\u0000b\\ud800\"").status()).isEqualTo(200);
        assertThat(api.awaitState(run, "completed").get("output").stringValue()).isEqualTo("a\uFFFDb\uFFFD");
    }

    @Test
    void workspaceSecretsAreRedacted() {
        api.send("PUT", "/api/v1/secrets/token", "{\"value\": \"canary-of-signals\"}".getBytes(), "Content-Type",
                "application/json");
        String run = run(step("s", "{\"name\": \"n\"}"));
        send(run, "n", "\"it is canary-of-signals, he said\"");
        assertThat(api.awaitState(run, "completed").get("output").stringValue()).isEqualTo("it is [secret], he said");
        assertThat(rows("select payload::text from run_signals")).noneMatch(text -> text.contains("canary"));
    }

    @Test
    void invalidSignalIsRefused() {
        String run = run(step("s", "{\"name\": \"n\"}"));
        assertThat(send(run, "no%20name", "1").json().get("code").stringValue()).isEqualTo("INVALID_ID");
        assertThat(send(UUID.randomUUID().toString(), "n", "1").status()).isEqualTo(404);
        Answer long1 = send(run, "n", "\"" + "x".repeat(70_000) + "\"");
        assertThat(long1.json().at("/problems/0/code").stringValue()).isEqualTo("TOO_LONG");
        Answer plan = api.post("/api/v1/runs", """
                {"name": "m", "plan": {"tasks": [{"id": "a", "steps": [%s]}]}}""".formatted(
                step("s", "{\"name\": \"n\", \"schema\": {\"type\": \"nothing\"}}")));
        assertThat(plan.json().at("/problems/0/code").stringValue()).isEqualTo("SCHEMA_INVALID");
    }

    @Test
    void aNewAttemptWaitsForANewSignalAndTakesWhatWasKept() {
        String run = api.create("""
                {"name": "m", "start": true, "plan": {"tasks": [{"id": "a", "steps": [%s,
                  {"name": "f", "tool": "fail", "input": {"code": "NO", "class": "permanent", "times": 9}}]}]},
                 "config": {"max_attempts": 2}}""".formatted(step("s", "{\"name\": \"n\"}")));
        api.awaitStep(run, "waiting");
        send(run, "n", "1");
        api.awaitState(run, "failed");
        api.post("/api/v1/runs/" + run + "/retry", "{\"from\": \"start\"}");
        api.awaitStep(run, "waiting");
    }

    private List<JsonNode> events(String run, String type) {
        return api.get("/api/v1/runs/" + run + "/events").json().get("items").valueStream()
                .filter(event -> event.get("event_type").stringValue().equals(type)).toList();
    }

    private List<String> rows(String sql) {
        return api.database().withConnection(c -> {
            List<String> found = new ArrayList<>();
            try (var statement = c.createStatement(); var row = statement.executeQuery(sql)) {
                while (row.next()) {
                    found.add(row.getString(1));
                }
            }
            return found;
        });
    }
}
