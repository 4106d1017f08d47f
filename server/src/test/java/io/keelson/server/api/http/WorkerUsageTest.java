package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.atIndex;

import io.keelson.core.Breadth;
import io.keelson.server.Invariants;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** What a worker's heartbeats say of its use, and their answers. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WorkerUsageTest {
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

    @AfterEach
    void theBooksAreRight() {
        Invariants.hold(api.database());
        JsonNode verified = api.get("/api/v1/ledger/verify").json();
        assertThat(verified.get("ok").booleanValue()).as(verified.toString()).isTrue();
    }

    private List<JsonNode> claim() {
        return api.post("/api/v1/dispatch/claim", """
                {"worker_id": "w", "tools": ["test.remote"], "max": 1, "wait_ms": 0}""").json().get("items")
                .valueStream()
                .toList();
    }

    private JsonNode claimed(String run) {
        JsonNode item = claim().getFirst();
        assertThat(item.get("run_id").stringValue()).isEqualTo(run);
        return item;
    }

    private String run(String config) {
        return api.create("""
                {"name": "spends", "start": true, "config": %s, "plan": {"tasks": [{"id": "one", "steps": [
                  {"name": "work", "tool": "test.remote", "retry": {"max_attempts": 2, "base_delay_seconds": 0}}]}]}}"""
                .formatted(config));
    }

    private JsonNode report(String route, JsonNode item, String members) {
        return api.post("/api/v1/dispatch/" + route, "{\"worker_id\": \"w\", \"items\": [{\"step_id\": "
                + item.get("step_id") + ", \"lease_epoch\": " + item.get("lease_epoch") + members + "}]}").json()
                .get("items").get(0);
    }

    private void charged(String run, String credits) {
        assertThat(api.run(run).get("credits_charged").decimalValue()).isEqualByComparingTo(credits);
    }

    private static void answered(JsonNode answer, String status, String reason) {
        assertThat(answer.get("status").stringValue()).as(answer.toString()).isEqualTo(status);
        assertThat(answer.path("reason").asString("")).isEqualTo(reason);
    }

    @Test
    void useIsChargedWhileTheStepRunsAndOnceInAll() {
        String run = run("{}");
        JsonNode item = claimed(run);
        answered(report("heartbeat", item, ", \"tokens\": 10, \"cost\": 0.2"), "ok", "");
        charged(run, "0.2");
        answered(report("heartbeat", item, ", \"tokens\": 10, \"cost\": 0.2"), "ok", "");
        answered(report("heartbeat", item, ", \"tokens\": 30, \"cost\": 0.5"), "ok", "");
        charged(run, "0.5");
        answered(report("heartbeat", item, ", \"cost\": 0.1"), "ok", "");
        charged(run, "0.5");
        report("complete", item, ", \"output\": 1, \"tokens\": 40, \"cost\": 0.6");
        JsonNode ended = api.awaitState(run, "completed");
        charged(run, "0.6");
        assertThat(ended.get("total_tokens").intValue()).isEqualTo(40);
        JsonNode attempt = api.get("/api/v1/steps/" + item.get("step_id").stringValue() + "/attempts").json()
                .get("items").get(0);
        assertThat(attempt.get("cost").decimalValue()).isEqualByComparingTo("0.6");
    }

    @Test
    void useBelowWhatCanBeChargedAddsUp() {
        String run = run("{}");
        JsonNode item = claimed(run);
        for (int beat = 1; beat <= 9; beat++) {
            answered(report("heartbeat", item, ", \"cost\": "
                    + new BigDecimal("0.0000003").multiply(BigDecimal.valueOf(beat)).toPlainString()), "ok", "");
        }
        charged(run, "0.000003");
        report("complete", item, ", \"output\": 1, \"cost\": 0.0000034");
        assertThat(api.awaitState(run, "completed").get("total_cost").decimalValue())
                .isEqualByComparingTo("0.0000034");
        charged(run, "0.000003");
    }

    /** A worker that dies, or reports under a lease that it has lost, has paid what it had said. */
    @Test
    void useOfALostLeaseStaysChargedAndTheNextLeaseCountsAnew() {
        String run = run("{}");
        JsonNode first = claimed(run);
        report("heartbeat", first, ", \"cost\": 0.3");
        api.sql("update work_queue set lease_expires_at = now() - interval '1 second' where run_id = '" + run + "'");
        JsonNode second = awaitClaim();
        assertThat(second.get("lease_epoch").intValue()).isEqualTo(2);
        answered(report("heartbeat", first, ", \"cost\": 0.9"), "stop", "lost");
        charged(run, "0.3");
        report("heartbeat", second, ", \"cost\": 0.1");
        charged(run, "0.4");
        report("fail", second, ", \"error_code\": \"E\", \"error_class\": \"permanent\", \"cost\": 0.25");
        api.awaitState(run, "failed");
        charged(run, "0.55");
    }

    @Test
    void aLostLeaseHasNoOutputAndEachLeaseItsOwnStart() {
        String run = run("{}");
        JsonNode first = claimed(run);
        report("heartbeat", first, ", \"cost\": 0.3");
        api.sql("update work_queue set lease_expires_at = now() - interval '1 second' where run_id = '" + run + "'");
        JsonNode second = awaitClaim();
        JsonNode running = attempts(first).get(1);
        report("complete", second, ", \"output\": {\"pages\": 1}");
        api.awaitState(run, "completed");

        assertThat(attempts(first)).extracting(each -> each.get("outcome").stringValue() + " " + each.get("output"))
                .containsExactly("lost null", "completed {\"pages\":1}");
        assertThat(attempts(first)).extracting(each -> each.get("started_at"))
                .containsExactlyElementsOf(claims(run)).contains(running.get("started_at"), atIndex(1));
    }

    /** Its worker stops after the answer to its heartbeat, or a person cancels the run. */
    @ParameterizedTest
    @ValueSource(strings = {"release", "cancel"})
    void aLeaseThatIsReleasedIsNotShownAsLost(String way) {
        String run = run("{\"budget\": {\"hard_limit_usd\": 1}}");
        JsonNode item = claimed(run);
        answered(report("heartbeat", item, ", \"cost\": 1"), "stop", "budget_exceeded");
        if (way.equals("release")) {
            answered(report("release", item, ""), "ok", "");
        }
        api.post("/api/v1/runs/" + run + "/cancel", "{}");
        api.awaitState(run, "cancelled");

        assertThat(attempts(item)).singleElement().satisfies(attempt -> {
            assertThat(attempt.get("outcome").stringValue()).isEqualTo("released");
            assertThat(attempt.get("cost").decimalValue()).isEqualByComparingTo("1");
        });
    }

    private List<JsonNode> attempts(JsonNode item) {
        return api.get("/api/v1/steps/" + item.get("step_id").stringValue() + "/attempts").json().get("items")
                .valueStream().toList();
    }

    /** The times at which the steps of the run were claimed. */
    private List<JsonNode> claims(String run) {
        return api.get("/api/v1/runs/" + run + "/events").json().get("items").valueStream()
                .filter(event -> List.of("step_started", "step_reclaimed")
                        .contains(event.get("event_type").stringValue()))
                .map(event -> event.get("created_at")).toList();
    }

    private JsonNode awaitClaim() {
        return api.post("/api/v1/dispatch/claim", """
                {"worker_id": "w", "tools": ["test.remote"], "max": 1, "wait_ms": 20000}""").json().get("items").get(0);
    }

    @ParameterizedTest
    @CsvSource({"0.9, ok, '', 0.9", "1, stop, budget_exceeded, 1", "2.5, stop, budget_exceeded, 1"})
    void theLimitOfTheRunStopsAWorkerThatSaysItsUse(String cost, String status, String reason, String charged) {
        String run = run("{\"budget\": {\"hard_limit_usd\": 1}}");
        JsonNode item = claimed(run);
        JsonNode answer = report("heartbeat", item, ", \"cost\": " + cost);
        answered(answer, status, reason);
        assertThat(answer.get("lease_expires_at").stringValue()).as("the lease is valid").isNotBlank();
        charged(run, charged);
        assertThat(report("complete", item, ", \"output\": 1, \"cost\": " + cost).get("status").stringValue())
                .as("its report counts").isEqualTo("ok");
        charged(run, charged);
        api.post("/api/v1/runs/" + run + "/cancel", "{}");
    }

    /** What a worker has paid for is not thrown away because another item fails, and a retry does not pay for it again. */
    @Test
    void paidItemFinishesWhereAnotherFails() {
        String run = api.create("""
                {"name": "fan", "start": true, "plan": {"tasks": [{"id": "one",
                  "for_each": "${ [1, 2, 3] }", "steps": [
                  {"name": "work", "tool": "test.remote", "retry": {"max_attempts": 1}}]}]}}""");
        JsonNode fails = awaitClaim();
        JsonNode paid = awaitClaim();
        JsonNode free = awaitClaim();
        report("heartbeat", paid, ", \"cost\": 0.2");
        report("fail", fails, ", \"error_code\": \"E\", \"error_class\": \"permanent\"");
        answered(report("heartbeat", free, ""), "stop", "cancelled");
        answered(report("heartbeat", paid, ", \"cost\": 0.3"), "ok", "");
        assertThat(api.run(run).get("state").stringValue()).isEqualTo("running");
        report("complete", paid, ", \"output\": 1, \"cost\": 0.4");
        api.awaitState(run, "failed");
        charged(run, "0.4");

        api.post("/api/v1/runs/" + run + "/retry", "{}");
        for (int again = 0; again < 2; again++) {
            report("complete", awaitClaim(), ", \"output\": 1");
        }
        api.awaitState(run, "completed");
        charged(run, "0.4");
    }

    @ParameterizedTest
    @ValueSource(strings = {"runs/%1$s/cancel", "tasks/%2$s/cancel"})
    void aCancelledStepSaysSo(String command) {
        String run = run("{}");
        JsonNode item = claimed(run);
        api.post("/api/v1/" + command.formatted(run, item.get("task_id").stringValue()), "{}");
        answered(report("heartbeat", item, ""), "stop", "cancelled");
    }

    @Test
    void reportsHaveProgressAndLogs() {
        String run = run("{}");
        JsonNode first = claimed(run);
        String notes = ", \"progress\": {\"fraction\": 0.5, \"message\": \"half\"}, \"logs\": [\"%s\"]";
        report("fail", first, ", \"error_code\": \"E\", \"error_class\": \"quality\"" + notes.formatted("bad"));
        JsonNode second = awaitClaim();
        report("complete", second, ", \"output\": 1" + notes.formatted("good"));
        report("complete", second, ", \"output\": 1" + notes.formatted("good"));
        api.awaitState(run, "completed");
        String step = "/api/v1/steps/" + first.get("step_id").stringValue();
        assertThat(api.get(step + "/logs").json().get("items").valueStream().map(line -> line.get("message")
                .stringValue())).containsExactly("bad", "good");
        assertThat(api.get(step).json().get("progress").doubleValue()).isEqualTo(0.5);
    }

    /** Both wait for the run's lock; whichever is decided first, the step owes the most that was said of it. */
    @ParameterizedTest
    @CsvSource({"0.4, 0.7, 0.7", "0.7, 0.4, 0.7"})
    void heartbeatAndResultThatMeetChargeTheMostThatWasSaid(String beat, String result, String owed) throws Exception {
        String run = run("{}");
        JsonNode item = claimed(run);
        List<CompletableFuture<JsonNode>> both = locked(run, Stream.of(
                () -> report("heartbeat", item, ", \"cost\": " + beat),
                () -> report("complete", item, ", \"output\": 1, \"cost\": " + result)));
        both.forEach(CompletableFuture::join);
        api.awaitState(run, "completed");
        BigDecimal charged = api.run(run).get("credits_charged").decimalValue();
        assertThat(charged).as("a heartbeat that comes second is refused").isIn(new BigDecimal(owed),
                new BigDecimal(result));
    }

    /** The run is cancelled, and a heartbeat that was sent before is decided before or after it. */
    @Test
    void heartbeatAndCancelThatMeetChargeOnceOrNotAtAll() throws Exception {
        String run = run("{}");
        JsonNode item = claimed(run);
        List<CompletableFuture<JsonNode>> both = locked(run, Stream.of(
                () -> report("heartbeat", item, ", \"cost\": 0.4"),
                () -> api.post("/api/v1/runs/" + run + "/cancel", "{}").json()));
        both.forEach(CompletableFuture::join);
        api.awaitState(run, "cancelled");
        answered(report("heartbeat", item, ", \"cost\": 0.9"), "stop", "cancelled");
        assertThat(api.run(run).get("credits_charged").decimalValue().stripTrailingZeros())
                .isIn(new BigDecimal("0.4"), BigDecimal.ZERO);
    }

    private List<CompletableFuture<JsonNode>> locked(String run, Stream<Supplier<JsonNode>> calls) {
        return api.database().inTransaction(c -> {
            try (var s = c.createStatement()) {
                s.execute("select from run_heads where run_id = '" + run + "' for update");
                List<CompletableFuture<JsonNode>> sent = calls.map(CompletableFuture::supplyAsync).toList();
                api.awaitLock();
                return sent;
            }
        });
    }
}
