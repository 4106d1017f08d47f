package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Scope;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Runs that are created and awaited by one call. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Breadth.Spread
class AwaitedRunsApiTest {

    private static final String RUNS = "/api/v1/runs";

    /** Bodies of 1 MB of one workspace. */
    private static final int MORE_THAN_MAY_ARRIVE = 36;

    private static final int CALLS_OF_A_KIND = 8;

    /** Less than the call waits. */
    private static final Duration RELEASED = Duration.ofSeconds(20);

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    private void act(String run, String action) {
        ApiServer.Answer answer = api.post(RUNS + "/" + run + "/" + action, "{}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    }

    /** The mission that waits for a person, started and with more members. */
    private static String waits(String members) {
        return ApiServer.WAITS.replaceFirst("\\{", "{\"start\": true, " + members + ", ");
    }

    private JsonNode started(String externalId) {
        return Awaitility.await().until(() -> api.get(RUNS + "?external_id=" + externalId).json().get("items"),
                items -> !items.isEmpty()).get(0);
    }

    @Test
    void aRunIsCreatedAndItsEndAwaitedInOneCall() {
        ApiServer.Answer ended = api.post(RUNS + "?wait_ms=60000", """
                {"name": "quick", "external_id": "quick-1", "start": true, "plan": {"tasks": [{"id": "t", "steps": [
                  {"name": "say", "tool": "echo", "input": {"text": "hello"}}]}]}}""");
        assertThat(ended.status()).isEqualTo(201);
        assertThat(ended.json().get("state").stringValue()).isEqualTo("completed");
        assertThat(ended.header("Location")).isEqualTo(RUNS + "/" + ended.json().get("id").stringValue());
        assertThat(ended.text()).isEqualTo(api.get(ended.header("Location")).text());

        ApiServer.Answer existing = api.post(RUNS + "?wait_ms=60000", """
                {"name": "quick", "external_id": "quick-1", "external_id_policy": "existing", "plan": {"tasks": [
                  {"id": "t", "steps": [{"name": "say", "tool": "echo", "input": {"text": "hello"}}]}]}}""");
        assertThat(existing.status()).isEqualTo(200);
        assertThat(existing.text()).isEqualTo(ended.text());
    }

    /** Each answer equals a later reading. The first ones are made while readers of runs cannot read. */
    @Test
    void anAnswerFromTheCommitOfTheEndEqualsThatOfTheDatabase() {
        List<String> fromTheCommit = List.of(task("", """
                {"name": "a", "tool": "noop"}"""), task(", \"chain\": false", """
                {"name": "a", "tool": "noop"}, {"name": "b", "tool": "noop", "input": {"output": null}}"""),
                task("", """
                        {"name": "a", "tool": "noop", "input": {"output": {"bb": 1.50, "a": [1e3, {"zz": 1, "y": "\\u00e9"}]}}}
                        """),
                task("", """
                        {"name": "a", "tool": "noop", "input": {"output": "%s", "cost": 0.12345, "tokens": 7}}"""
                        .formatted("text ".repeat(1_000))),
                with("""
                        "description": "long", "tags": ["b", "a"], "priority": 7, "external_id": "shape", "trigger": "event",
                        "input": {"x": {"bb": 1.0, "a": 2}}, "inputs": {"x": {}}, "config": {
                        "budget": {"hard_limit_usd": 12.50, "soft_limit_usd": 3}}""",
                        task("", """
                        {"name": "a", "tool": "noop", "input": {"output": 1}}""")));
        List<ApiServer.Answer> answers = new ArrayList<>();
        api.database().runInTransaction(holder -> {
            try (Statement statement = holder.createStatement()) {
                statement.execute("lock table run_undos in access exclusive mode");
            }
            fromTheCommit.forEach(mission -> answers.add(api.post(RUNS + "?wait_ms=20000", mission, "traceparent",
                    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")));
            answers.add(api.post(RUNS, fromTheCommit.getFirst()));
        });
        answers.add(api.post(RUNS + "?wait_ms=20000",
                """
                {"goal": "two", "start": true, "output": {"all": "${ .tasks.b.output }"}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "a", "tool": "noop"}]},
                  {"id": "b", "depends_on": ["a"], "steps": [{"name": "b", "tool": "noop", "input": {"output": [1]}}]}]}}"""));
        answers.add(api.post(RUNS + "?wait_ms=20000", with("\"output\": \"${ .tasks.t.output }\"", task("", """
                {"name": "a", "tool": "noop", "input": {"output": 1}}"""))));

        for (ApiServer.Answer answer : answers) {
            assertThat(answer.status()).as(answer.text()).isEqualTo(201);
            assertThat(answer.json().get("state").stringValue()).isEqualTo("completed");
            assertThat(answer.text()).isEqualTo(api.get(answer.header("Location")).text());
        }
    }

    private static String with(String members, String mission) {
        return "{" + members + ", " + mission.substring(1);
    }

    private static String task(String members, String steps) {
        return """
                {"goal": "ends", "start": true, "plan": {"tasks": [{"id": "t", "suggested_agent": {"type": "contractor", "agent_name": "bot"}%s,
                 "steps": [%s]}]}}""".formatted(members, steps);
    }

    /** Runs of calls at the same time are read together. */
    @Test
    void callsAtTheSameTimeAreEachAnsweredWithTheirRun() {
        String quick = """
                {"name": "%s", "start": true, "goal": "call %d", "plan": {"tasks": [{"id": "t", "steps": [
                  {"name": "try", "tool": "%s", "input": %s, "retry": {"max_attempts": 1}}]}]}}""";
        List<CompletableFuture<ApiServer.Answer>> calls = new ArrayList<>();
        for (int i = 0; i < CALLS_OF_A_KIND; i++) {
            for (String mission : List.of(quick.formatted("completed", i, "echo", "{\"text\": \"hello\"}"),
                    quick.formatted("failed", i, "fail", "{\"times\": 1}"),
                    waits("\"external_id\": \"together-" + i + "\""))) {
                calls.add(CompletableFuture.supplyAsync(() -> api.post(RUNS + "?wait_ms=60000", mission),
                        Thread::startVirtualThread));
            }
            act(started("together-" + i).get("id").stringValue(), "cancel");
        }

        List<String> ends = new ArrayList<>();
        for (CompletableFuture<ApiServer.Answer> call : calls) {
            ApiServer.Answer answer = call.join();
            assertThat(answer.status()).as(answer.text()).isEqualTo(201);
            ends.add(answer.json().get("name").stringValue() + ": " + answer.json().get("state").stringValue());
            assertThat(answer.text()).isEqualTo(api.get(answer.header("Location")).text());
        }
        assertThat(ends).hasSize(3 * CALLS_OF_A_KIND).containsOnly("completed: completed", "failed: failed",
                "waits: cancelled");
        assertThat(calls.stream().map(call -> call.join().header("Location"))).doesNotHaveDuplicates();
    }

    @Test
    void aCallThatAwaitsTheEndOfItsRunIsAnsweredInTime() {
        ApiServer.Answer open = api.post(RUNS + "?wait_ms=1", ApiServer.WAITS);
        assertThat(open.status()).isEqualTo(201);
        assertThat(open.json().get("state").stringValue()).isEqualTo("created");
        assertThat(api.post(RUNS + "?wait_ms=60001", ApiServer.WAITS).status()).isEqualTo(400);
    }

    @Test
    void aRepeatedCallAwaitsTheEndOfTheRunThatTheFirstOneHasMade() {
        String[] key = {"Idempotency-Key", "awaited"};
        String mission = waits("\"external_id\": \"awaited\"");
        CompletableFuture<ApiServer.Answer> first =
                CompletableFuture.supplyAsync(() -> api.post(RUNS + "?wait_ms=60000", mission, key));
        String run = started("awaited").get("id").stringValue();
        CompletableFuture<ApiServer.Answer> second =
                CompletableFuture.supplyAsync(() -> api.post(RUNS + "?wait_ms=60000", mission, key));
        api.awaitStep(run, "waiting_approval");
        act(run, "approve");

        assertThat(first.join().json().get("state").stringValue()).isEqualTo("completed");
        assertThat(second.join().text()).isEqualTo(first.join().text());
        ApiServer.Answer again = api.post(RUNS + "?wait_ms=60000", mission, key);
        assertThat(again.header("Idempotent-Replayed")).isEqualTo("true");
        assertThat(again.text()).isEqualTo(first.join().text());
    }

    @Test
    void theKeyOfACallWhoseClientIsGoneIsFree() throws Exception {
        String mission = waits("\"external_id\": \"gone\"");
        try (Socket client = new Socket(api.url().getHost(), api.url().getPort())) {
            client.getOutputStream()
                    .write(("POST " + RUNS + "?wait_ms=59999 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                            + api.key()
                            + "\r\nIdempotency-Key: gone\r\nContent-Type: application/json\r\nContent-Length: "
                            + mission.length() + "\r\n\r\n" + mission).getBytes(StandardCharsets.UTF_8));
            started("gone");
        }
        // a key that another request still uses is refused without the run
        Awaitility.await().atMost(RELEASED).until(() -> api
                .post(RUNS, waits("\"external_id\": \"other\""), "Idempotency-Key", "gone")
                .json().has("run_id"));
    }

    @Test
    void aCallWhoseKeyEndsWhileItWaitsIsRefusedAndItsRunContinues() {
        String bearer = api.bearer(Bootstrap.DEFAULT_WORKSPACE, Scope.all(false));
        String mission = waits("\"external_id\": \"revoked\"");
        CompletableFuture<ApiServer.Answer> held = CompletableFuture
                .supplyAsync(() -> api.post(RUNS + "?wait_ms=60000", mission, "Authorization", bearer));
        String run = started("revoked").get("id").stringValue();
        api.sql("update api_keys set revoked_at = clock_timestamp() where name = 'test' and revoked_at is null");

        assertThat(held.join().status()).isEqualTo(401);
        assertThat(api.get(RUNS + "/" + run).json().get("state_type").stringValue())
                .isNotEqualTo("terminal");
    }

    @Test
    void callsThatWaitHoldNoMemoryForTheirBodies() {
        List<CompletableFuture<ApiServer.Answer>> held = new ArrayList<>();
        List<String> runs = new ArrayList<>();
        for (int i = 0; i < MORE_THAN_MAY_ARRIVE; i++) {
            String mission = waits("\"external_id\": \"large-" + i + "\"" + " ".repeat(1_000_000));
            held.add(CompletableFuture.supplyAsync(() -> api.post(RUNS + "?wait_ms=60000", mission),
                    Thread::startVirtualThread));
            runs.add(started("large-" + i).get("id").stringValue());
        }
        runs.forEach(run -> act(run, "cancel"));

        assertThat(held).allMatch(each -> each.join().status() == 201);
    }
}
