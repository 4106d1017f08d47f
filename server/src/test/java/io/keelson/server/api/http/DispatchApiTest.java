package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** A worker of another process, spoken by hand. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DispatchApiTest {

    private static final String NONE = UUID.randomUUID().toString();

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
        claim("w", 1, 0);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    private List<JsonNode> claim(String worker, int max, int waitMillis) {
        return items(api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"" + worker
                + "\", \"tools\": [\"test.remote\"], \"max\": " + max + ", \"wait_ms\": " + waitMillis
                + ", \"version\": \"1\"}"));
    }

    private JsonNode claimOne(String worker) {
        List<JsonNode> items = claim(worker, 1, 20_000);
        assertThat(items).hasSize(1);
        return items.getFirst();
    }

    /** One item's answer. */
    private JsonNode report(String route, JsonNode item, String members) {
        return report(route, item.get("step_id").stringValue(), item.get("lease_epoch").intValue(), members);
    }

    private JsonNode report(String route, String step, int epoch, String members) {
        return items(api.post("/api/v1/dispatch/" + route, "{\"worker_id\": \"w\", \"items\": [{\"step_id\": \"" + step
                + "\", \"lease_epoch\": " + epoch + members + "}]}")).getFirst();
    }

    private static List<JsonNode> items(ApiServer.Answer answer) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().get("items").valueStream().toList();
    }

    @Test
    void aStepIsClaimedReportedOnAndCompleted() throws Exception {
        String run = api.create(ApiServer.REMOTE);
        JsonNode item = claimOne("w");
        assertThat(item.get("run_id").stringValue()).isEqualTo(run);
        assertThat(item.get("tool").stringValue()).isEqualTo("test.remote");
        assertThat(item.get("input").toString()).isEqualTo("{\"n\":1}");
        assertThat(item.get("attempt").intValue()).isEqualTo(1);
        assertThat(item.get("failure_context").isNull()).isTrue();
        assertThat(item.get("effect_key").stringValue()).isNotBlank();

        JsonNode beat = report("heartbeat", item, ", \"progress\": {\"fraction\": 0.5, \"message\": \"half\"},"
                + " \"details\": {\"page\": 3}, \"logs\": [\"one\", \"two\\u0000\"]");
        assertThat(beat.get("status").stringValue()).isEqualTo("ok");
        assertThat(beat.get("lease_expires_at").stringValue()).isNotBlank();

        byte[] content = "# Report".getBytes(StandardCharsets.UTF_8);
        String result =
                ", \"output\": {\"text\": \"a\\u0000b\"}, \"tokens\": 5, \"cost\": 0.25, \"artifacts\": [{\"name\":"
                        + " \"ré port.md\", \"content_type\": \"text/html\", \"content_base64\": \""
                        + Base64.getEncoder().encodeToString(content) + "\"}]";
        assertThat(report("complete", item, result).get("status").stringValue()).isEqualTo("ok");
        assertThat(report("complete", item, result).get("status").stringValue()).isEqualTo("duplicate");

        JsonNode ended = api.awaitState(run, "completed");
        assertThat(ended.get("total_tokens").intValue()).isEqualTo(5);
        assertThat(ended.get("total_cost").decimalValue()).isEqualByComparingTo("0.25");
        String step = item.get("step_id").stringValue();
        assertThat(api.get("/api/v1/steps/" + step).json().get("output").get("text").stringValue())
                .isEqualTo("a\uFFFDb");
        assertThat(items(api.get("/api/v1/steps/" + step + "/logs")))
                .extracting(line -> line.get("message").stringValue()).containsExactly("one", "two\uFFFD");
        assertDownloads(run, content);
    }

    /** As a worker does that has a broker's message about the item. */
    @Test
    void onlyNamedItemsAreClaimed() throws Exception {
        String run = api.create(ApiServer.REMOTE);
        String other = api.create(ApiServer.REMOTE);
        String task = items(api.get("/api/v1/runs/" + run + "/tasks")).getFirst().get("id").stringValue();

        assertThat(claimItems(task, 1)).as("another lane").isEmpty();
        assertThat(claimItems(NONE, 0)).isEmpty();
        List<JsonNode> claimed = claimItems(task, 0);
        assertThat(claimed).extracting(item -> item.get("run_id").stringValue()).containsExactly(run);
        assertThat(claimItems(task, 0)).as("held").isEmpty();
        assertThat(report("complete", claimed.getFirst(), ", \"output\": 1").get("status").stringValue())
                .isEqualTo("ok");
        assertThat(claimItems(task, 0)).as("ended").isEmpty();
        assertThat(report("complete", claimOne("w"), ", \"output\": 1").get("status").stringValue()).isEqualTo("ok");
        api.awaitState(other, "completed");
    }

    private List<JsonNode> claimItems(String task, int lane) {
        return items(api.post("/api/v1/dispatch/claim",
                "{\"worker_id\": \"w\", \"tools\": [\"test.remote\"], \"max\": 10,"
                        + " \"wait_ms\": 20000, \"items\": [{\"task_id\": \"" + task + "\", \"lane\": " + lane
                        + "}]}"));
    }

    /** The run goes while its report waits for the lock under which it is decided. */
    @ParameterizedTest
    @ValueSource(strings = {"complete", "continue", "fail", "release"})
    void aRunThatIsDeletedDuringTheDecisionOfAReportLeavesEachItemItsAnswer(String route) throws Exception {
        String gone = api.create(ApiServer.REMOTE);
        JsonNode late = claimOne("w");
        String kept = api.create(ApiServer.REMOTE);
        JsonNode other = claimOne("w");
        api.post("/api/v1/runs/" + gone + "/cancel", "{}");
        api.awaitState(gone, "cancelled");
        String members = route.equals("fail") ? ", \"error_code\": \"BUSY\"" : "";

        CompletableFuture<ApiServer.Answer> answer = api.database().inTransaction(c -> {
            try (var s = c.createStatement()) {
                s.execute("select from run_heads where run_id = '" + gone + "' for update");
                CompletableFuture<ApiServer.Answer> reported = CompletableFuture.supplyAsync(() -> api.post(
                        "/api/v1/dispatch/" + route, "{\"worker_id\": \"w\", \"items\": [" + item(late, members) + ", "
                                + item(other, members) + "]}"));
                api.awaitLock();
                s.execute("update orchestration_runs set deleted_at = clock_timestamp() where id = '" + gone + "'");
                return reported;
            }
        });

        assertThat(items(answer.get())).extracting(each -> each.get("step_id").stringValue() + " "
                + each.get("status").stringValue()).containsExactly(late.get("step_id").stringValue() + " not_found",
                        other.get("step_id").stringValue() + " ok");
        api.post("/api/v1/runs/" + kept + "/cancel", "{}");
    }

    private static String item(JsonNode claimed, String members) {
        return "{\"step_id\": \"" + claimed.get("step_id").stringValue() + "\", \"lease_epoch\": "
                + claimed.get("lease_epoch").intValue() + members + "}";
    }

    private static final String GREETS =
            """
            {"name": "greets", "start": true, "inputs": {"who": {"default": "you"}}, "plan": {"tasks": [
              {"id": "one", "title": "One", "steps": [{"name": "work", "tool": "test.remote",
               "input": {"text": "hello ${ .inputs.who }"}, "retry": {"max_attempts": 3, "base_delay_seconds": 0.05}}]}]}}""";

    private List<JsonNode> attempts(JsonNode item) {
        return items(api.get("/api/v1/steps/" + item.get("step_id").stringValue() + "/attempts"));
    }

    @Test
    void deferredStepIsClaimedAgainAfterItsTime() throws Exception {
        String run = api.create(ApiServer.REMOTE);
        JsonNode item = claimOne("w");
        String step = item.get("step_id").stringValue();
        String deferral = ", \"deferral\": {\"retry_after_ms\": 300000, \"busy\": \"model:small\"}";
        assertThat(report("release", item, deferral).get("status").stringValue()).isEqualTo("ok");
        assertThat(report("release", item, deferral).get("status").stringValue()).isEqualTo("stale_lease");
        assertThat(report("complete", item, ", \"output\": 1").get("status").stringValue()).isEqualTo("stale_lease");
        assertThat(claim("other", 1, 0)).isEmpty();
        JsonNode reason = api.get("/api/v1/steps/" + step + "/explain").json().get("reasons").get(0);
        assertThat(reason.get("code").stringValue()).isEqualTo("MODEL_BUSY");
        JsonNode shown = api.get("/api/v1/steps/" + step).json();
        assertThat(reason.get("until")).isEqualTo(shown.get("next_run_at"));
        assertThat(shown.get("state").stringValue()).isEqualTo("running");
        assertThat(count("select count(*) from work_queue where run_id = '" + run + "'")).isZero();
        assertThat(api.post("/api/v1/tasks/" + item.get("task_id").stringValue() + "/retry", "{}").status())
                .isEqualTo(200);
        JsonNode again = claimOne("other");
        assertThat(again.get("attempt").intValue()).isEqualTo(1);
        assertThat(again.get("lease_epoch").intValue()).isEqualTo(2);
        report("release", again, ", \"deferral\": {\"retry_after_ms\": 0}");
        JsonNode third = claimOne("w");
        assertThat(third.get("lease_epoch").intValue()).isEqualTo(3);
        report("complete", third, ", \"output\": 1");
        api.awaitState(run, "completed");
        assertThat(api.get("/api/v1/steps/" + step).json().get("attempt").intValue()).isEqualTo(1);
    }

    @Test
    void announcedToolsAreInTheCatalogueOfTheirWorkspace() {
        String claim = "{\"worker_id\": \"%s\", \"tools\": [\"test.remote\", \"test.spec\"]%s}";
        String spec = ", \"tool_specs\": [{\"name\": \"test.spec\", \"description\": \"%s\", \"effects\": \"once\","
                + " \"input_schema\": {\"type\": \"object\"}}]";
        items(api.post("/api/v1/dispatch/claim", claim.formatted("announces", spec.formatted("First"))));
        items(api.post("/api/v1/dispatch/claim", claim.formatted("announces", spec.formatted("Makes notes"))));
        items(api.post("/api/v1/dispatch/claim", claim.formatted("announces", "")));
        JsonNode tool = tool("test.spec");
        assertThat(tool.get("description").stringValue()).isEqualTo("Makes notes");
        assertThat(tool.get("effects").stringValue()).isEqualTo("once");
        assertThat(tool.get("input_schema").toString()).isEqualTo("{\"type\":\"object\"}");
        assertThat(tool("test.remote").get("description").isNull()).isTrue();
    }

    @Test
    void workerServesNoToolOfAnMcpServer() {
        ApiServer.Answer claim = api.post("/api/v1/dispatch/claim",
                "{\"worker_id\": \"poses\", \"tools\": [\"test.remote\", \"mcp.files.read\"]}");
        assertThat(claim.status()).isEqualTo(422);
        assertThat(claim.json().at("/problems/0/pointer").asString()).isEqualTo("/tools/1");
        ApiServer.Answer next = api.post("/api/v1/dispatch/complete",
                "{\"worker_id\": \"poses\", \"items\": [{\"step_id\":"
                        + " \"00000000-0000-0000-0000-000000000001\", \"lease_epoch\": 1}], \"next\": {\"tools\": [\"mcp.files.read\"]}}");
        assertThat(next.json().at("/problems/0/pointer").asString()).as(next.text()).isEqualTo("/next/tools/0");
        assertThat(items(api.get("/api/v1/workers"))).noneMatch(worker -> worker.toString().contains("poses"));
    }

    private JsonNode tool(String name) {
        return items(api.get("/api/v1/tools?limit=200")).stream()
                .filter(each -> each.get("name").stringValue().equals(name)).findFirst().orElseThrow();
    }

    @Test
    void stepFailsWhenASystemIsBusyForLongerThanTheRunWaits() throws Exception {
        String run = api.create(ApiServer.REMOTE.replace("\"start\": true",
                "\"start\": true, \"config\": {\"timeouts\": {\"provider_wait_seconds\": 0.2}}"));
        String deferral = ", \"deferral\": {\"retry_after_ms\": 864000000, \"message\": \"later\"}";
        report("release", claimOne("w"), deferral);
        JsonNode last = claimOne("w");
        report("release", last, deferral);
        api.awaitState(run, "failed");
        JsonNode step = api.get("/api/v1/steps/" + last.get("step_id").stringValue()).json();
        assertThat(step.get("error_code").stringValue()).isEqualTo("UPSTREAM_UNAVAILABLE");
        assertThat(step.get("error_class").stringValue()).isEqualTo("infrastructure");
    }

    @Test
    void stepsInputIsRecordedWithEachAttempt() throws Exception {
        String run = api.create(GREETS);
        JsonNode first = claimOne("w");
        assertThat(attempts(first)).singleElement().satisfies(attempt -> {
            assertThat(attempt.get("outcome").stringValue()).isEqualTo("running");
            assertThat(attempt.get("worker").stringValue()).isEqualTo("w");
            assertThat(attempt.get("input").isNull()).isTrue();
        });
        report("fail", first, ", \"error_code\": \"BUSY\", \"message\": \"later\"");
        JsonNode second = claimOne("w");
        report("complete", second, ", \"output\": {\"said\": true}, \"tokens\": 3, \"cost\": 0.5,"
                + " \"usage\": {\"input\": 1, \"cache_read\": 1, \"output\": 1}");
        api.awaitState(run, "completed");

        List<JsonNode> attempts = attempts(second);
        assertThat(attempts).hasSize(2).allSatisfy(attempt -> {
            assertThat(attempt.get("input").toString()).isEqualTo("{\"text\":\"hello you\"}");
            assertThat(attempt.get("started_at").stringValue()).isNotBlank();
            assertThat(attempt.get("completed_at").stringValue()).isNotBlank();
        });
        assertThat(attempts.getFirst().get("error_code").stringValue()).isEqualTo("BUSY");
        assertThat(attempts.getFirst().get("error_class").stringValue()).isEqualTo("infrastructure");
        assertThat(attempts.getFirst().get("error_message").stringValue()).isEqualTo("later");
        assertThat(attempts.getFirst().get("output").isNull()).isTrue();
        assertThat(attempts.getLast().get("attempt").intValue()).isEqualTo(2);
        assertThat(attempts.getLast().get("output").toString()).isEqualTo("{\"said\":true}");
        assertThat(attempts.getLast().get("tokens").intValue()).isEqualTo(3);
        assertThat(attempts.getFirst().get("usage").isNull()).isTrue();
        assertThat(attempts.getLast().get("usage").toString())
                .isEqualTo("{\"input\":1,\"output\":1,\"reasoning\":0,\"cache_read\":1,\"cache_write\":0}");
    }

    @Test
    void theInputIsRecordedAlsoWhenAnotherNodeTakesTheReport(@TempDir Path other) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (ApiServer one = new ApiServer(other.resolve("one"), url);
                ApiServer two = new ApiServer(other.resolve("two"), url)) {
            String key = "Bearer " + one.key();
            String claim = "{\"worker_id\": \"w\", \"tools\": [\"test.remote\"], \"wait_ms\": 20000}";
            one.post("/api/v1/dispatch/claim", claim.replace("20000", "0"), "Authorization", key);
            String run = one.create(GREETS);
            JsonNode item = items(one.post("/api/v1/dispatch/claim", claim, "Authorization", key)).getFirst();
            String step = item.get("step_id").stringValue();
            two.post("/api/v1/dispatch/complete", "{\"worker_id\": \"w\", \"items\": [{\"step_id\": \"" + step
                    + "\", \"lease_epoch\": 1, \"output\": 1}]}", "Authorization", key);
            one.awaitState(run, "completed");
            assertThat(items(one.get("/api/v1/steps/" + step + "/attempts")).getFirst().get("input").toString())
                    .isEqualTo("{\"text\":\"hello you\"}");
        }
    }

    @Test
    void aLargeInputIsCutWithItsSize() throws Exception {
        String run = api.create(GREETS.replace("\"you\"", "\"" + "x".repeat(100_000) + "\""));
        JsonNode item = claimOne("w");
        report("complete", item, ", \"output\": 1");
        api.awaitState(run, "completed");
        JsonNode cut = attempts(item).getFirst().get("input").get("$truncated");
        assertThat(cut.get("characters").intValue()).isEqualTo("{\"text\":\"hello \"}".length() + 100_000);
        assertThat(cut.get("start").stringValue()).hasSize(65_536).startsWith("{\"text\":\"hello xxx");
    }

    /** A connection on which a worker has sent a claim that waits, and what follows it. */
    private Socket claiming(String worker, String next) throws Exception {
        Socket socket = new Socket(api.url().getHost(), api.url().getPort());
        socket.setSoTimeout(60_000);
        String body = "{\"worker_id\": \"" + worker + "\", \"tools\": [\"test.remote\"], \"wait_ms\": 20000}";
        socket.getOutputStream()
                .write(("POST /api/v1/dispatch/claim HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                        + api.key() + "\r\nContent-Type: application/json\r\nContent-Length: " + body.length()
                        + "\r\n\r\n"
                        + body + next).getBytes(StandardCharsets.UTF_8));
        return socket;
    }

    private void awaitWorker(String worker) {
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(20)).until(() -> items(
                api.get("/api/v1/workers")).stream().anyMatch(w -> w.get("id").stringValue().equals(worker)));
    }

    @Test
    void aWorkerThatDiedWhileItWaitedGetsNothing() throws Exception {
        try (Socket _ = claiming("dies", "")) {
            awaitWorker("dies");
        }
        String run = api.create(ApiServer.REMOTE);
        JsonNode item = claimOne("w");
        assertThat(item.get("lease_epoch").intValue()).isEqualTo(1);
        report("complete", item, ", \"output\": 1");
        api.awaitState(run, "completed");
    }

    @Test
    void workSentToACrashedWorkerIsTakenBack() throws Exception {
        String run = api.create(ApiServer.REMOTE);
        try (Socket socket = claiming("dies too", "")) {
            api.database().runInTransaction(c -> {
                try (var s = c.createStatement()) {
                    s.execute("select from run_heads where run_id = '" + run + "' for update");
                }
                awaitWorker("dies too");
                Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> count("select count(*) from pg_locks"
                        + " where not granted and database = (select oid from pg_database where datname ="
                        + " current_database()) or not granted and locktype = 'transactionid'") > 0);
                try {
                    socket.close();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
        JsonNode item = claimOne("w");
        assertThat(item.get("lease_epoch").intValue()).as("claimed, given back, claimed").isEqualTo(2);
        report("complete", item, ", \"output\": 1");
        api.awaitState(run, "completed");
    }

    @Test
    void aRequestBehindAClaimThatWaitsIsAnsweredNext() throws Exception {
        try (Socket socket = claiming("pipelines",
                "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")) {
            awaitWorker("pipelines");
            String run = api.create(ApiServer.REMOTE);
            String answers = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(answers).contains("\"lease_epoch\":1", "{\"status\":\"ok\"}");
            api.post("/api/v1/runs/" + run + "/cancel", "{}");
        }
    }

    private long count(String query) {
        return api.database().withConnection(c -> {
            try (var s = c.createStatement(); var row = s.executeQuery(query)) {
                row.next();
                return row.getLong(1);
            }
        });
    }

    @Test
    void aRepeatedReportIsADuplicateAlsoWhenTheRunHasBegunAgain() throws Exception {
        String run = api.create(ApiServer.REMOTE);
        JsonNode item = claimOne("w");
        String broken = ", \"error_code\": \"NO\", \"error_class\": \"permanent\", \"message\": \"no\"";
        assertThat(report("fail", item, broken).get("status").stringValue()).isEqualTo("ok");
        api.awaitState(run, "failed");
        assertThat(api.post("/api/v1/runs/" + run + "/retry", "{\"from\": \"start\"}").status()).isEqualTo(200);

        assertThat(report("fail", item, broken).get("status").stringValue()).isEqualTo("duplicate");
        assertThat(report("release", item, "").get("status").stringValue()).as("any report under that epoch")
                .isEqualTo("duplicate");
        api.post("/api/v1/runs/" + run + "/cancel", "{}");
    }

    @Test
    void aRepeatedResultIsAnsweredWithTheStoredOneAndAnotherIsAConflict() throws Exception {
        String run = api.create(ApiServer.REMOTE);
        JsonNode item = claimOne("w");
        String first = ", \"output\": {\"text\": \"a\\u0000b\"}";
        assertThat(report("complete", item, first).has("result")).isFalse();
        for (int i = 0; i < 2; i++) {
            JsonNode again = report("complete", item, first);
            assertThat(again.get("status").stringValue()).isEqualTo("duplicate");
            assertThat(again.get("result")).isEqualTo(
                    api.get("/api/v1/steps/" + item.get("step_id").stringValue()).json().get("output"));
            JsonNode other = report("complete", item, ", \"output\": {\"text\": \"b\"}");
            assertThat(other.get("status").stringValue()).isEqualTo("conflict");
            assertThat(other.get("code").stringValue()).isEqualTo("RESULT_CONFLICT");
            api.awaitState(run, "completed");
        }
    }

    @Test
    void aResultReportedAfterAFailureIsAConflict() throws Exception {
        String run = api.create(ApiServer.REMOTE);
        JsonNode item = claimOne("w");
        String failure = ", \"error_code\": \"NO\", \"error_class\": \"permanent\", \"message\": \"no\"";
        assertThat(report("fail", item, failure).get("status").stringValue()).isEqualTo("ok");
        JsonNode late = report("complete", item, ", \"output\": 1");
        assertThat(late.get("status").stringValue()).isEqualTo("conflict");
        assertThat(late.get("code").stringValue()).isEqualTo("RESULT_CONFLICT");
        assertThat(report("continue", item, ", \"output\": 1").get("status").stringValue()).isEqualTo("conflict");
        assertThat(report("fail", item, failure).get("status").stringValue()).isEqualTo("duplicate");
        api.awaitState(run, "failed");
    }

    @Test
    void aFailureReportedAfterTheSuccessIsAnsweredWithTheTerminalDecision() throws Exception {
        String run = api.create(ApiServer.REMOTE);
        JsonNode item = claimOne("w");
        assertThat(report("complete", item, ", \"output\": 1").get("status").stringValue()).isEqualTo("ok");
        JsonNode late = report("fail", item,
                ", \"error_code\": \"NO\", \"error_class\": \"permanent\", \"message\": \"no\"");
        assertThat(late.get("status").stringValue()).isEqualTo("duplicate");
        assertThat(late.get("code").stringValue()).isEqualTo("RETRY_SUCCEEDED");
        api.awaitState(run, "completed");
    }

    @Test
    void ofTwoSignsOfLifeInOneCallOnlyTheLiveLeasesCounts() {
        String run = api.create(ApiServer.REMOTE);
        JsonNode first = claimOne("w");
        report("release", first, "");
        JsonNode second = claimOne("w");
        String step = first.get("step_id").stringValue();
        List<JsonNode> answers = items(api.post("/api/v1/dispatch/heartbeat", """
                {"worker_id": "w", "items": [{"step_id": "%s", "lease_epoch": 1, "logs": ["old"]},
                 {"step_id": "%s", "lease_epoch": 2, "logs": ["new"]}]}""".formatted(step, step)));

        assertThat(second.get("lease_epoch").intValue()).isEqualTo(2);
        assertThat(answers).extracting(answer -> answer.get("status").stringValue()).containsExactly("stop", "ok");
        assertThat(items(api.get("/api/v1/steps/" + step + "/logs")))
                .extracting(line -> line.get("message").stringValue()).containsExactly("new");
        api.post("/api/v1/runs/" + run + "/cancel", "{}");
    }

    private void assertDownloads(String run, byte[] content) throws Exception {
        JsonNode artifact = items(api.get("/api/v1/runs/" + run + "/artifacts")).getFirst();
        String sha256 = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
        assertThat(artifact.get("sha256").stringValue()).isEqualTo(sha256);

        String path = "/artifacts/" + artifact.get("id").stringValue() + "/content";
        ApiServer.Answer answer = api.get("/api/v1/runs/" + run + path);
        assertThat(answer.response().body()).isEqualTo(content);
        assertThat(answer.header("Content-Length")).isEqualTo("8");
        assertThat(answer.header("ETag")).isEqualTo('"' + sha256 + '"');
        assertThat(answer.header("X-Content-Type-Options")).isEqualTo("nosniff");
        assertThat(answer.header("Content-Disposition")).isEqualTo("attachment; filename*=UTF-8''r%C3%A9%20port.md");
        assertThat(answer.header("Content-Security-Policy")).contains("sandbox");
        assertThat(api.get("/runs/" + run + path, "If-None-Match", answer.header("ETag")).status()).isEqualTo(304);

        String other = api.create(ApiServer.WAITS);
        assertThat(api.get("/api/v1/runs/" + other + path).json().get("code").stringValue())
                .isEqualTo("ARTIFACT_NOT_FOUND");
    }

    @Test
    void failureIsRetriedWithThePreviousFailure() {
        String run = api.create(ApiServer.REMOTE);
        JsonNode first = claimOne("w");
        report("heartbeat", first, ", \"details\": {\"page\": 3}");

        JsonNode failed = report("fail", first, ", \"error_code\": \"UPSTREAM_DOWN\", \"error_class\":"
                + " \"infrastructure\", \"message\": \"try later\", \"retry_after_ms\": 0");
        JsonNode second = claimOne("w");

        assertThat(failed.get("status").stringValue()).isEqualTo("ok");
        assertThat(second.get("attempt").intValue()).isEqualTo(2);
        assertThat(second.get("lease_epoch").intValue()).isEqualTo(2);
        assertThat(second.get("failure_context").get("error_code").stringValue()).isEqualTo("UPSTREAM_DOWN");
        assertThat(second.get("details").get("page").intValue()).isEqualTo(3);
        assertThat(report("fail", second, ", \"error_code\": \"GONE\", \"error_class\": \"permanent\"")
                .get("status").stringValue()).isEqualTo("ok");
        assertThat(api.awaitState(run, "failed").get("error_code").stringValue()).isEqualTo("GONE");
    }

    @Test
    void aFailedTurnIsTriedOnceInEachAttemptOfItsTask() {
        String run = api.create("""
                {"name": "m", "start": true, "config": {"retry": {"max_retries_per_task": 3, "backoff_base_seconds": 0.1}},
                 "plan": {"tasks": [{"id": "t", "title": "Work"}]}}""");
        for (int attempt = 1; attempt <= 3; attempt++) {
            JsonNode turn = items(api.post("/api/v1/dispatch/claim",
                    "{\"worker_id\": \"w\", \"tools\": [\"agent.turn\"], \"wait_ms\": 20000}")).getFirst();
            report("fail", turn, ", \"error_code\": \"DOWN\", \"error_class\": \"infrastructure\"");
        }
        assertThat(api.awaitState(run, "failed").get("error_code").stringValue()).isEqualTo("DOWN");
        List<JsonNode> events = items(api.get("/api/v1/runs/" + run + "/events?limit=500"));
        assertThat(events.stream().filter(event -> event.get("event_type").stringValue().equals("task_retrying"))
                .map(event -> event.at("/payload/retry_after_seconds").doubleValue())).containsExactly(0.1, 0.2);
        assertThat(events).extracting(event -> event.get("event_type").stringValue())
                .filteredOn(type -> type.equals("task_crashed") || type.equals("step_retrying")).hasSize(3)
                .containsOnly("task_crashed");
        assertThat(events.stream().filter(event -> event.get("event_type").stringValue().equals("task_failed"))
                .map(event -> event.at("/payload/total_attempts").intValue())).containsExactly(3);
    }

    @Test
    void aTaskWhoseOnlyWorkerIsLostWaitsAgainForOne() {
        api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"mortal\", \"tools\": [\"test.mortal\"], \"wait_ms\": 0}");
        String run = api.create("""
                {"name": "m", "start": true, "plan": {"tasks": [{"id": "t", "steps": [{"tool": "test.mortal"}]}]}}""");
        String claim = "{\"worker_id\": \"%s\", \"tools\": [\"test.mortal\"], \"wait_ms\": 20000, \"lease_ms\": 1000}";
        JsonNode lost = items(api.post("/api/v1/dispatch/claim", claim.formatted("mortal"))).getFirst();
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(100)).untilAsserted(
                () -> assertThat(items(api.get("/api/v1/runs/" + run + "/tasks")).getFirst().get("state").stringValue())
                        .isEqualTo("queued"));
        assertThat(api.get("/api/v1/runs/" + run + "/explain").json().at("/reasons/0/text").stringValue())
                .contains("its worker sent nothing more");
        assertThat(
                api.get("/api/v1/runs/" + run + "/states").json().at("/contracts/gate4/tasks/awaiting_tool").intValue())
                .isEqualTo(1);
        JsonNode again = items(api.post("/api/v1/dispatch/claim", claim.formatted("w"))).getFirst();
        assertThat(again.get("step_id")).isEqualTo(lost.get("step_id"));
        assertThat(again.get("attempt").intValue()).isEqualTo(1);
        assertThat(report("complete", again, ", \"output\": 1").get("status").stringValue()).isEqualTo("ok");
        api.awaitState(run, "completed");
    }

    @Test
    void retryExecutesAndChargesOnlyUnfinishedItemsOfAFanOut() {
        String run = api
                .create("""
                {"name": "m", "start": true, "plan": {"tasks": [{"id": "m", "for_each": "${ [1, 2, 3, 4] }",
                  "steps": [{"tool": "test.remote", "input": {"n": "${ .item }"}}]}]}, "output": "${ .tasks.m.output }"}""");
        for (int i = 0; i < 4; i++) {
            JsonNode item = claimOne("w");
            report(i == 3 ? "fail" : "complete", item,
                    i == 3 ? ", \"error_code\": \"NO\", \"error_class\": \"permanent\""
                            : ", \"cost\": 0.01, \"output\": " + item.at("/input/n"));
        }
        api.awaitState(run, "failed");
        for (int i = 0; i < 2; i++) {
            JsonNode retried = api.post("/api/v1/runs/" + run + "/retry", "{}").json();
            assertThat(retried.get("attempt_number").intValue()).isEqualTo(2);
        }
        JsonNode last = claimOne("w");
        assertThat(last.at("/input/n").intValue()).isEqualTo(4);
        report("complete", last, ", \"cost\": 0.01, \"output\": 4");
        JsonNode ended = api.awaitState(run, "completed");
        assertThat(ended.get("output").toString()).isEqualTo("[1,2,3,4]");
        assertThat(items(api.get("/api/v1/runs/" + run + "/ledger")).stream()
                .filter(entry -> entry.get("transaction_type").stringValue().equals("charge"))
                .map(entry -> entry.get("amount").decimalValue())).hasSize(4).allSatisfy(
                        amount -> assertThat(amount.abs()).isEqualByComparingTo("0.01"));
    }

    @Test
    void aFanOutOverNothingNamesItsExpressionAndWhatItYields() {
        String run = api
                .create("""
                {"name": "m", "start": true, "plan": {"tasks": [{"id": "m", "for_each": "${ {}.rows }", "steps": [{"tool": "noop"}]}]}}""");
        assertThat(api.awaitState(run, "failed").get("error_message").stringValue())
                .contains("for_each must yield a list; ${ {}.rows } yields null");
    }

    /** A worker that sends heartbeats has the time of the task: an hour, or as the mission says. */
    @ParameterizedTest
    @CsvSource({"'', '', 3600", "'\"timeouts\": {\"task_seconds\": 7200}', '', 7200",
            "'', '\"timeout_seconds\": 900,', 900"})
    void withoutATimeoutOfItsOwnAStepHasTheTimeOfItsTask(String config, String task, int seconds) {
        String run = api.create("""
                {"name": "m", "start": true, "config": {%s}, "plan": {"tasks": [{"id": "t", %s "steps": [{"name": "s",
                  "tool": "test.remote"}]}]}}""".formatted(config, task));
        JsonNode item = claimOne("w");
        Duration left = Duration.between(Instant.parse(item.get("lease_expires_at").stringValue()),
                Instant.parse(item.get("deadline").stringValue()));
        assertThat(left.plus(Duration.ofSeconds(30))).isBetween(Duration.ofSeconds(seconds - 1),
                Duration.ofSeconds(seconds + 1));
        assertThat(items(api.get("/api/v1/tools")).stream()
                .filter(tool -> tool.get("name").stringValue().equals("test.remote"))
                .map(tool -> tool.get("timeout_by").stringValue())).containsExactly("task");
        report("complete", item, "");
        api.awaitState(run, "completed");
    }

    @Test
    void aToolIsRegisteredBeforeAWorkerClaims() {
        String tool = "{\"name\": \"later.tool\", \"description\": \"%s\", \"effects\": \"read\"}";
        for (String said : List.of("old", "new")) {
            assertThat(api.post("/api/v1/dispatch/register", "{\"worker_id\": \"ci\", \"tool_specs\": ["
                    + tool.formatted(said) + "]}").status()).isEqualTo(204);
        }
        String run = api.create("""
                {"name": "m", "start": true, "plan": {"tasks": [{"id": "t", "steps": [{"tool": "later.tool"}]}]}}""");
        assertThat(items(api.get("/api/v1/tools")).stream()
                .filter(each -> each.get("name").stringValue().equals("later.tool"))
                .map(each -> each.get("description").stringValue())).containsExactly("new");
        assertThat(api.get("/api/v1/runs/" + run + "/explain").text()).contains("later.tool");
        assertThat(api.post("/api/v1/dispatch/register",
                "{\"worker_id\": \"ci\", \"tool_specs\": [{\"name\": \"mcp.a.b\"}]}").json().get("pointer")
                .stringValue())
                .isEqualTo("/tool_specs/0/name");
        api.post("/api/v1/runs/" + run + "/cancel", "{}");
    }

    /** Its heartbeats keep the lease, not the time: that is the step's, and what it runs out of is tried again, then fails. */
    @Test
    void heartbeatsAloneDoNotExtendATimeout() {
        String run = api.create("""
                {"name": "m", "start": true, "plan": {"tasks": [{"id": "t", "steps": [{"name": "s",
                  "tool": "test.remote", "timeout_seconds": 0.5,
                  "retry": {"max_attempts": 2, "base_delay_seconds": 0}}]}]}}""");
        JsonNode first = claimOne("w");
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(100)).untilAsserted(
                () -> assertThat(report("heartbeat", first, ", \"progress\": {\"fraction\": 0.1}").get("status")
                        .stringValue()).isEqualTo("stop"));
        JsonNode second = claimOne("w");
        assertThat(second.get("attempt").intValue()).isEqualTo(2);
        assertThat(second.get("failure_context").get("error_code").stringValue()).isEqualTo("STEP_TIMEOUT");
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(100)).untilAsserted(
                () -> assertThat(report("heartbeat", second, "").path("reason").asString("")).isEqualTo("timed_out"));
        assertThat(report("heartbeat", first, "").get("reason").stringValue()).isEqualTo("lost");
        assertThat(api.awaitState(run, "failed").get("error_code").stringValue()).isEqualTo("STEP_TIMEOUT");
    }

    @Test
    void aLeaseThatIsNoLongerHeldIsRefused() {
        String run = api.create(ApiServer.REMOTE);
        JsonNode old = claimOne("w");
        assertThat(report("release", old, "").get("status").stringValue()).isEqualTo("ok");
        JsonNode current = claimOne("w");

        for (String route : List.of("heartbeat", "complete", "release")) {
            JsonNode answer = report(route, old, "");
            assertThat(answer.get("status").stringValue()).as(route)
                    .isEqualTo(route.equals("heartbeat") ? "stop" : "stale_lease");
            assertThat(answer.get("code").stringValue()).isEqualTo("STALE_LEASE");
        }
        JsonNode answer = report("fail", old, ", \"error_code\": \"E\"");
        assertThat(answer.get("status").stringValue()).isEqualTo("stale_lease");

        assertThat(current.get("attempt").intValue()).as("a release costs no attempt").isEqualTo(1);
        assertThat(report("complete", current, ", \"output\": null").get("status").stringValue()).isEqualTo("ok");
        api.awaitState(run, "completed");
    }

    /** A value of more levels could not be written within a list. */
    @Test
    void outputOfTooManyLevelsIsRefusedAndAListOmitsAStoredOne() {
        String run = api.create(ApiServer.REMOTE);
        JsonNode step = claimOne("w");
        String deep = "[".repeat(181) + "]".repeat(181);
        ApiServer.Answer refused = api.post("/api/v1/dispatch/complete", "{\"worker_id\": \"w\", \"items\": ["
                + item(step, ", \"output\": " + deep) + "]}");
        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.json().get("code").stringValue()).isEqualTo("OUTPUT_INVALID");
        assertThat(refused.json().get("pointer").stringValue()).isEqualTo("/items/0/output");
        assertThat(report("complete", step, ", \"output\": [1]").get("status").stringValue()).isEqualTo("ok");

        String stored = "[".repeat(500) + "]".repeat(500);
        api.sql("update task_steps set output = '" + stored + "' where run_id = '" + run.substring(
                run.indexOf('_') + 1) + "'");
        JsonNode listed = items(api.get("/api/v1/runs/" + run + "/steps")).getFirst();
        assertThat(listed.get("output").isNull()).isTrue();
        assertThat(listed.get("omitted").valueStream().map(JsonNode::stringValue)).containsExactly("output");
        api.awaitState(run, "completed");
        api.sql("update orchestration_runs set output = '" + stored + "' where id = '" + run.substring(
                run.indexOf('_') + 1) + "'");
        ApiServer.Answer one = api.get("/api/v1/runs/" + run);
        assertThat(one.status()).isEqualTo(500);
        assertThat(one.json().get("code").stringValue()).isEqualTo("INTERNAL_ERROR");
    }

    @ParameterizedTest
    @ValueSource(strings = {"cbc", "!", "a===", "YWJj\\n"})
    void artifactThatIsNotBase64RejectsItsItemOnly(String content) {
        api.create(ApiServer.REMOTE);
        api.create(ApiServer.REMOTE);
        JsonNode bad = claimOne("w");
        JsonNode good = claimOne("w");

        List<JsonNode> answers = items(api.post("/api/v1/dispatch/complete", "{\"worker_id\": \"w\", \"items\": ["
                + item(bad, ", \"output\": 1, \"artifacts\": [{\"name\": \"a\", \"content_type\": \"text/plain\","
                        + " \"content_base64\": \"" + content + "\"}]")
                + ", " + item(good, ", \"output\": 1") + "]}"));

        assertThat(answers).extracting(answer -> answer.get("status").stringValue()).containsExactly("rejected", "ok");
        assertThat(answers.getFirst().get("code").stringValue()).isEqualTo("INVALID_VALUE");
        assertThat(answers.getFirst().get("pointer").stringValue()).isEqualTo("/items/0/artifacts/0/content_base64");
        assertThat(report("complete", bad, ", \"output\": 1").get("status").stringValue()).isEqualTo("ok");
    }

    @Test
    void everyItemHasItsAnswerInOrder() {
        String run = api.create(ApiServer.REMOTE);
        JsonNode item = claimOne("w");

        List<JsonNode> answers = items(api.post("/api/v1/dispatch/complete", """
                {"worker_id": "w", "items": [{"step_id": "%s", "lease_epoch": 1},
                  {"step_id": "step_%s", "lease_epoch": %d, "output": 1},
                  {"step_id": "%s", "lease_epoch": 99}]}""".formatted(NONE, item.get("step_id").stringValue(),
                item.get("lease_epoch").intValue(), NONE)));

        assertThat(answers).extracting(answer -> answer.get("status").stringValue())
                .containsExactly("not_found", "ok", "not_found");
        assertThat(answers.getFirst().get("step_id").stringValue()).isEqualTo(NONE);
        api.awaitState(run, "completed");
    }

    @Test
    void aContinuedTaskHasAnotherTurn() {
        String run = api.create(ApiServer.REMOTE);
        JsonNode first = claimOne("w");

        assertThat(report("continue", first, ", \"output\": 1").get("status").stringValue()).isEqualTo("ok");
        JsonNode second = claimOne("w");

        assertThat(second.get("step_id")).isNotEqualTo(first.get("step_id"));
        assertThat(second.get("task_id")).isEqualTo(first.get("task_id"));
        report("complete", second, ", \"output\": 2");
        api.awaitState(run, "completed");
    }

    @Test
    void aClaimIsHeldUntilThereIsWork() throws Exception {
        CompletableFuture<List<JsonNode>> held = CompletableFuture.supplyAsync(() -> claim("w", 5, 20_000));
        assertThat(held).isNotDone();

        String run = api.create(ApiServer.REMOTE);

        assertThat(held.get()).hasSize(1);
        report("complete", held.get().getFirst(), "");
        api.awaitState(run, "completed");
    }

    @Test
    void aDrainedWorkerGetsNothing() {
        String run = api.create(ApiServer.REMOTE);
        claim("tired", 1, 20_000).forEach(item -> report("release", item, ""));
        assertThat(api.post("/api/v1/workers/tired/drain", "").status()).isEqualTo(204);

        assertThat(claim("tired", 1, 0)).isEmpty();

        JsonNode worker = items(api.get("/api/v1/workers")).stream()
                .filter(each -> each.get("id").stringValue().equals("tired")).findFirst().orElseThrow();
        assertThat(worker.get("draining").booleanValue()).isTrue();
        assertThat(items(api.get("/api/v1/tools"))).anySatisfy(tool -> {
            assertThat(tool.get("name").stringValue()).isEqualTo("test.remote");
            assertThat(tool.get("source").stringValue()).isEqualTo("worker");
        });
        report("complete", claimOne("w"), "");
        api.awaitState(run, "completed");
    }

    @Test
    void workerThatIsDrainedWhileItsClaimWaitsGetsNothing() {
        claim("waiting", 1, 0);
        var _ = CompletableFuture.supplyAsync(() -> claim("waiting", 1, 20_000));
        assertThat(api.post("/api/v1/workers/waiting/drain", "").status()).isEqualTo(204);
        String run = api.create(ApiServer.REMOTE);
        report("complete", claimOne("w"), "");
        api.awaitState(run, "completed");
    }

    /** The claim has found the step, and its commit waits for the lock of the run. */
    @Test
    void workerThatIsDrainedDuringTheCommitOfItsClaimGetsNothing() throws Exception {
        String run = api.create(ApiServer.REMOTE);
        claim("late", 1, 0).forEach(item -> report("release", item, ""));
        CompletableFuture<List<JsonNode>> claimed = api.database().inTransaction(c -> {
            try (var s = c.createStatement()) {
                s.execute("select from run_heads where run_id = '" + run + "' for update");
                CompletableFuture<List<JsonNode>> claim = CompletableFuture.supplyAsync(() -> claim("late", 1, 0));
                api.awaitLock();
                assertThat(api.post("/api/v1/workers/late/drain", "").status()).isEqualTo(204);
                return claim;
            }
        });
        assertThat(claimed.get()).isEmpty();
        report("complete", claimOne("w"), "");
        api.awaitState(run, "completed");
    }
}
