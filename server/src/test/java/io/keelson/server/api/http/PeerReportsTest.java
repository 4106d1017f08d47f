package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Faults that users reported about other orchestrators, as trials of this server. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Breadth.Spread
class PeerReportsTest {

    private static final String RUNS = "/api/v1/runs/";

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterEach
    void nothingIsOpenAndTheBooksAreRight() {
        assertAtRest(api);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    /**
     * Hatchet issue 4900: a new run replaced an older one of the same concurrency key whose task was in retry backoff.
     * The older one retried after that, executed its next task and completed after its replacement.
     */
    @Test
    void cancelledRunsDoNotContinueAfterTheirBackoff() {
        String plan = """
                {"total_estimated_cost": 1, "tasks": [
                  {"id": "first", "steps": [{"name": "try", "tool": "fail", "input": {"times": 1, "cost": 0.25},
                    "retry": {"base_delay_seconds": 2}}]},
                  {"id": "next", "depends_on": ["first"], "steps": [{"name": "go", "tool": "echo", "input": {}}]}]}""";
        String config = "\"config\": {\"escalation\": {\"enabled\": false}, \"concurrency\": {\"key\": \"replaced\"}}";
        String mission = "{\"name\": \"m\", \"start\": true, %s, \"plan\": %s}".formatted(config, plan);
        String older = api.create(mission);
        String newer = api.create(mission);
        api.awaitStep(older, "awaiting_retry");
        assertThat(api.run(newer).get("state").stringValue()).isEqualTo("pending");
        act(older, "cancel");
        int executed = executions(older);
        settled(newer, "completed");
        assertThat(executions(newer)).isEqualTo(3);
        assertNeverContinued(older, executed);

        String schedule = api.post("/api/v1/schedules", """
                {"name": "replaces", "cron": "0 3 1 1 *", "overlap": "cancel_running", "mission":
                 {"name": "m", "config": {"escalation": {"enabled": false}}, "plan": %s}}""".formatted(plan)).json()
                .get("id").stringValue();
        String scheduled = runAtItsTime(schedule, 1);
        api.awaitStep(scheduled, "awaiting_retry");
        String replacement = runAtItsTime(schedule, 2);
        executed = executions(scheduled);
        settled(replacement, "completed");
        assertNeverContinued(scheduled, executed);
    }

    /** Makes the schedule due, and answers the run of the latest of so many times. */
    private String runAtItsTime(String schedule, int times) {
        api.sql("update schedules set next_run_at = date_trunc('second', clock_timestamp()) - interval '1 second' * "
                + (3 - times) + ", wake_at = clock_timestamp() where id = '" + schedule + "'");
        return Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(20))
                .until(() -> api.get("/api/v1/schedules/" + schedule + "/runs").json().get("items").valueStream()
                        .filter(time -> time.get("state").stringValue().equals("made"))
                        .map(time -> time.get("run_id").stringValue()).toList(), made -> made.size() == times)
                .getFirst();
    }

    private void assertNeverContinued(String run, int executed) {
        settled(run, "cancelled");
        assertThat(executions(run)).isEqualTo(executed);
        assertThat(tasks(run)).allSatisfy(task -> assertThat(task.get("state").stringValue()).isEqualTo("cancelled"));
    }

    /**
     * Hatchet issues 3153 and 1826, and its pull request 4619: outputs with the text of an escaped null character failed;
     * after an output that was an array the next task was never scheduled, and the run stayed running; an error message
     * with U+0000 was sent to PostgreSQL again and again.
     */
    @Test
    void outputsOfAnyKindReachTheNextTask() {
        claim("w", "peer.output", 30_000, 0);
        Map<String, String> kept = Map.of("{\"foo\": \"a\\u0000b\"}", "{\"foo\":\"a\uFFFDb\"}",
                "{\"foo\": \"\\\\u0000\"}", "{\"foo\":\"\\\\u0000\"}", "{\"a\\u0000\": 1}", "{\"a\uFFFD\":1}",
                "[]", "[]", "[0]", "[0]", "0", "0", "\"\"", "\"\"", "false", "false", "null", "null");
        kept.forEach((output, expected) -> {
            String run = api.create("""
                    {"name": "m", "start": true, "plan": {"total_estimated_cost": 1, "tasks": [
                      {"id": "first", "steps": [{"name": "s", "tool": "peer.output", "input": {}}]},
                      {"id": "second", "depends_on": ["first"], "steps": [
                        {"name": "s", "tool": "echo", "input": {"got": "${ .tasks.first.output }"}}]}]},
                     "output": "${ .tasks.second.output.got }"}""");
            assertThat(report("complete", claimOne("w", "peer.output"), ", \"cost\": 0.25, \"output\": " + output))
                    .isEqualTo("ok");
            assertThat(settled(run, "completed").get("output").toString()).as(output).isEqualTo(expected);
            assertThat(executions(run)).isEqualTo(2);
        });
        String failing = api.create(remote("peer.output", ""));
        assertThat(report("fail", claimOne("w", "peer.output"),
                ", \"error_code\": \"BROKEN\", \"error_class\": \"permanent\", \"message\": \"a\\u0000b\""))
                .isEqualTo("ok");
        assertThat(settled(failing, "failed").get("error_message").stringValue()).contains("a\uFFFDb");
    }

    /**
     * Inngest issue 1433: an event sent right after the start event of the waiting function was lost, and the wait timed
     * out.
     */
    @Test
    void signalsInQuickSuccessionAreAllTaken() {
        List<String> payloads = List.of("0", "false", "\"\"", "null", "[]");
        for (int i = 0; i < 4; i++) {
            String steps = String.join(", ", IntStream.range(0, payloads.size()).mapToObj(n -> """
                    {"name": "s%d", "tool": "signal.wait", "input": {"name": "n", "timeout_seconds": 3600}}"""
                    .formatted(n)).toList());
            String run = api.create("""
                    {"name": "m", "start": true, "plan": {"total_estimated_cost": 1, "tasks": [
                      {"id": "a", "steps": [%s]}]}}""".formatted(steps));
            payloads.forEach(payload -> assertThat(signal(run, "n", payload)).isEqualTo("accepted"));
            settled(run, "completed");
            assertThat(steps(run)).extracting(step -> step.get("output").toString())
                    .containsExactlyElementsOf(payloads);
            assertThat(signal(run, "n", "0")).isEqualTo("INVALID_STATE_TRANSITION");
        }
    }

    /**
     * inngest-js issue 1617: the wait that lost a race against another one was not cancelled, and the run stayed running
     * until the timeout of that wait.
     */
    @Test
    void waitThatLostItsRaceKeepsNothingOpen() {
        String waits = """
                {"name": "m", "start": true, "plan": {"total_estimated_cost": 1, "tasks": [
                  {"id": "done", "steps": [{"name": "d", "tool": "signal.wait", "input": {"name": "done",
                    "timeout_seconds": 3600}}, {"name": "after", "tool": "noop", "input": {"cost": 0.5}}]},
                  {"id": "error", "steps": [{"name": "e", "tool": "signal.wait", "input": {"name": "error",
                    "timeout_seconds": 3600}}, {"name": "stop", "tool": "fail", "input": {"code": "REFUSED",
                    "class": "permanent"}}]}]}}""";
        String raced = api.create(waits);
        api.awaitSteps(raced, "waiting", 2);
        assertThat(signal(raced, "error", "0")).isEqualTo("accepted");
        assertThat(settled(raced, "failed").get("error_code").stringValue()).isEqualTo("REFUSED");
        assertThat(steps(raced)).extracting(step -> step.get("name").stringValue() + " "
                + step.get("state").stringValue()).containsExactlyInAnyOrder("d cancelled", "after cancelled",
                        "e completed", "stop failed");
        assertThat(signal(raced, "done", "0")).isEqualTo("INVALID_STATE_TRANSITION");

        for (int i = 0; i < 8; i++) {
            String run = api.create("""
                    {"name": "m", "start": true, "plan": {"total_estimated_cost": 1, "tasks": [{"id": "a", "steps": [
                      {"name": "s", "tool": "signal.wait", "input": {"name": "n", "timeout_seconds": %s,
                       "on_timeout": "continue"}}]}]}, "output": ["${ .tasks.a.output }"]}"""
                    .formatted(0.005 * (i + 1)));
            String answer = signal(run, "n", "0");
            assertThat(settled(run, "completed").get("output").toString())
                    .isEqualTo(answer.equals("accepted") ? "[0]" : "[null]");
        }
    }

    /**
     * Prefect issue 8566 (also 9895 and 17415): the slots of tasks were not released when their flow run was cancelled,
     * failed or lost its process, and later tasks waited for ever.
     */
    @Test
    void slotsAreReleasedAfterACancelAFailureAndALostWorker() {
        claim("w", "peer.slot", 30_000, 0);
        String mission = remote("peer.slot", ", \"config\": {\"concurrency\": {\"key\": \"slot\"}}");
        List<String> runs = Stream.generate(() -> api.create(mission)).limit(4).toList();

        JsonNode first = claimOne("w", "peer.slot");
        assertStates(runs, "running", "pending", "pending", "pending");
        act(runs.get(0), "cancel");
        JsonNode second = claimOne("w", "peer.slot");
        assertStates(runs, "cancelled", "running", "pending", "pending");
        assertThat(report("complete", first, ", \"output\": 1")).isEqualTo("stale_lease");

        report("fail", second, ", \"error_code\": \"BROKEN\", \"error_class\": \"permanent\", \"cost\": 0.25");
        JsonNode lost = claim("killed", "peer.slot", 1_000, 20_000).getFirst();
        assertStates(runs, "cancelled", "failed", "running", "pending");

        JsonNode again = claimOne("w", "peer.slot");
        assertThat(again.get("step_id")).isEqualTo(lost.get("step_id"));
        assertThat(again.get("lease_epoch").intValue()).isEqualTo(2);
        assertStates(runs, "cancelled", "failed", "running", "pending");
        assertThat(report("killed", "complete", lost, ", \"output\": 1")).isEqualTo("stale_lease");
        assertThat(report("complete", again, ", \"output\": 2, \"cost\": 0.5")).isEqualTo("ok");

        JsonNode last = claimOne("w", "peer.slot");
        assertThat(last.get("run_id").stringValue()).isEqualTo(runs.get(3));
        assertThat(report("complete", last, ", \"output\": 3")).isEqualTo("ok");
        settled(runs.get(0), "cancelled");
        settled(runs.get(1), "failed");
        settled(runs.get(2), "completed");
        settled(runs.get(3), "completed");
    }

    private void assertStates(List<String> runs, String... states) {
        assertThat(runs).extracting(run -> api.run(run).get("state").stringValue()).containsExactly(states);
    }

    /** Temporal issue 8205: schedules around a change of the clocks made no run, or two in a day. */
    @Test
    void localTimesFireOnceADayAroundChangesOfTheClocks() {
        assertTimes("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00", "2026-03-30T00:30");
        assertTimes("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30", "2026-10-26T01:30");
        assertTimes("0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00Z", "2018-11-04T03:00", "2018-11-05T02:00");
        assertTimes("30 23 * * *", "America/Sao_Paulo", "2018-02-17T12:00:00Z", "2018-02-18T01:30",
                "2018-02-19T02:30");
        assertTimes("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", "2026-10-03T15:30",
                "2026-10-04T15:15");
        assertTimes("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", "2026-04-04T14:45",
                "2026-04-05T15:15");
        assertTimes("0 12 29 2 *", "UTC", "2026-01-01T00:00:00Z", "2028-02-29T12:00", "2032-02-29T12:00");
        assertTimes("0 12 29 2 *", "UTC", "2096-03-01T00:00:00Z", "2104-02-29T12:00", "2108-02-29T12:00");

        String schedule = "/api/v1/schedules/" + api.post("/api/v1/schedules", """
                {"name": "nightly", "cron": "30 2 * * *", "time_zone": "Europe/Berlin", "overlap": "allow", "mission":
                 {"name": "m", "plan": {"total_estimated_cost": 1, "tasks": [{"id": "a", "steps": [
                   {"name": "s", "tool": "noop", "input": {"cost": 0.25}}]}]}}}""").json().get("id").stringValue();
        String days = "{\"from\": \"2026-03-28T00:00:00Z\", \"to\": \"2026-03-30T12:00:00Z\"}";
        api.post(schedule + "/backfill", days);
        api.post(schedule + "/backfill", days);
        List<JsonNode> made = Awaitility.await().atMost(Duration.ofSeconds(60)).until(
                () -> api.get(schedule + "/runs").json().get("items").valueStream().toList(),
                times -> times.stream().allMatch(time -> time.get("state").stringValue().equals("made")));
        assertThat(made).extracting(time -> time.get("scheduled_for").stringValue()).containsExactlyInAnyOrder(
                "2026-03-28T01:30:00.000Z", "2026-03-29T01:00:00.000Z", "2026-03-30T00:30:00.000Z");
        made.forEach(time -> settled(time.get("run_id").stringValue(), "completed"));
    }

    private void assertTimes(String cron, String zone, String after, String... expected) {
        JsonNode times = api.post("/api/v1/schedules:preview", """
                {"cron": "%s", "time_zone": "%s", "after": "%s", "count": %d}"""
                .formatted(cron, zone, after, expected.length)).json().get("items");
        assertThat(times).extracting(JsonNode::stringValue)
                .containsExactlyElementsOf(Stream.of(expected).map(time -> time + ":00.000Z").toList());
    }

    /**
     * Conductor (Netflix) issues 1957 and 762, and its pull request 1574: the join of a dynamic fork stayed in progress
     * after all its tasks had ended; a fork over nothing failed with a NullPointerException.
     */
    @Test
    void fanOutsOverManyNoAndNullItemsEnd() {
        int width = 12;
        for (int items : List.of(0, 1, width)) {
            String run = api.create(fanOut("[range(%d)]".formatted(items)));
            JsonNode output = settled(run, "completed").get("output");
            assertThat(output.get("count").intValue()).isEqualTo(items);
            assertThat(executions(run)).isEqualTo(items + 1);
        }
        JsonNode failed = settled(api.create(fanOut(".inputs.list")), "failed");
        assertThat(failed.get("error_code").stringValue()).isEqualTo("FOR_EACH_NOT_A_LIST");
        assertThat(failed.get("error_message").stringValue()).contains("for_each must yield a list")
                .endsWith("yields null");
    }

    private static String fanOut(String items) {
        return """
                {"name": "m", "start": true, "inputs": {"list": {"default": null}},
                 "plan": {"total_estimated_cost": 1, "tasks": [
                  {"id": "each", "for_each": "${ %s }", "steps": [
                    {"name": "s", "tool": "echo", "input": {"n": "${ .item }"}}]},
                  {"id": "join", "depends_on": ["each"], "steps": [{"name": "s", "tool": "echo", "input": {
                    "count": "${ .tasks.each.output | length }", "sum": "${ [.tasks.each.output[].n] | add }"}}]}]},
                 "output": "${ .tasks.join.output }"}""".formatted(items);
    }

    /** Conductor (conductor-oss) issue 18: the join of more than 6,000 forks completed before them. */
    @Test
    @Breadth.InPart(6)
    void joinOfFiveThousandStartsAfterTheLast(@TempDir Path own) throws Exception {
        int width = 5_000;
        try (ApiServer wide = new ApiServer(own)) {
            JsonNode ended = settled(wide, wide.create(fanOut("[range(%d)]".formatted(width))), "completed");
            assertThat(ended.at("/output/count").intValue()).isEqualTo(width);
            assertThat(ended.at("/output/sum").intValue()).isEqualTo(width * (width - 1) / 2);
            assertThat(ended.get("tasks_completed").intValue()).isEqualTo(width + 2);
            assertAtRest(wide);
        }
    }

    /**
     * Issue 679 of Vercel's Workflow DevKit and issue 2443 of Elsa: a run whose timer passed while no server was running
     * was never resumed.
     */
    @Test
    void timersThatPassWithoutAServerFireAtItsNextStart(@TempDir Path own) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        String run;
        try (ApiServer before = new ApiServer(own, url)) {
            run = before.create("""
                    {"name": "m", "start": true, "config": {"escalation": {"enabled": false}},
                     "plan": {"total_estimated_cost": 1, "tasks": [
                      {"id": "wait", "steps": [{"name": "s", "tool": "wait", "input": {"seconds": 3600}}]},
                      {"id": "signal", "steps": [{"name": "s", "tool": "signal.wait", "input": {"name": "n",
                        "timeout_seconds": 3600, "on_timeout": "continue"}}]},
                      {"id": "retry", "steps": [{"name": "s", "tool": "fail", "input": {"times": 1, "cost": 0.25},
                        "retry": {"base_delay_seconds": 3600, "max_delay_seconds": 7200}}]},
                      {"id": "end", "depends_on": ["wait", "signal", "retry"], "steps": [
                        {"name": "s", "tool": "noop", "input": {"cost": 0.25}}]}]}}""");
            before.awaitSteps(run, "waiting", 2);
            before.awaitStep(run, "awaiting_retry");
        }
        try (var connection = url.connect(); var passes = connection.createStatement()) {
            passes.execute("update timers set due_at = due_at - interval '2 hours'");
            passes.execute("update task_steps set next_run_at = next_run_at - interval '2 hours'");
        }
        try (ApiServer after = new ApiServer(own, url)) {
            JsonNode ended = settled(after, run, "completed");
            assertThat(ended.get("credits_charged").decimalValue()).isEqualByComparingTo("0.75");
            assertThat(after.get(RUNS + run + "/steps").json().get("items").valueStream())
                    .extracting(step -> step.get("attempt").intValue()).as("waits have none")
                    .containsExactlyInAnyOrder(0, 0, 2, 1);
            assertAtRest(after);
        }
    }

    /**
     * Dapr java-sdk issue 1735: a loop of timers of 500 ms ended without waiting. Dapr issue 5978: a run with several
     * chains side by side, each with more than one timer, stayed running for ever.
     */
    @Test
    void shortWaitsLastTheirTimeAlsoSideBySide() {
        long millis = 300;
        String wait = "{\"name\": \"%s\", \"tool\": \"wait\", \"input\": {\"seconds\": 0.3}}";
        String echo = "{\"name\": \"%s\", \"tool\": \"echo\", \"input\": {}}";
        String chain = String.join(", ", wait.formatted("w1"), echo.formatted("e1"), wait.formatted("w2"),
                wait.formatted("w3"), echo.formatted("e2"));
        int chains = 5;
        String run =
                api.create("{\"name\": \"m\", \"start\": true, \"plan\": {\"total_estimated_cost\": 1, \"tasks\": ["
                        + String.join(", ", IntStream.range(0, chains)
                                .mapToObj(i -> "{\"id\": \"t%d\", \"steps\": [%s]}".formatted(i, chain)).toList())
                        + "]}}");
        Instant started = Instant.parse(settled(run, "completed").get("started_at").stringValue());
        assertThat(executions(run)).as("of echo").isEqualTo(2 * chains);
        for (JsonNode task : tasks(run)) {
            Instant last = started;
            List<JsonNode> steps = api.get("/api/v1/tasks/" + task.get("id").stringValue() + "/steps").json()
                    .get("items").valueStream().toList();
            assertThat(steps).hasSize(5);
            for (JsonNode step : steps) {
                Instant ended = Instant.parse(step.get("completed_at").stringValue());
                // Documents have whole milliseconds.
                assertThat(Duration.between(last, ended).toMillis()).as(step.toString())
                        .isGreaterThanOrEqualTo(step.get("tool").stringValue().equals("wait") ? millis - 1 : 0);
                last = ended;
            }
        }
    }

    private JsonNode settled(String run, String state) {
        return settled(api, run, state);
    }

    /** Waits for the run's end, and checks that all that it had reserved was charged or refunded, in its ledger too. */
    private static JsonNode settled(ApiServer api, String run, String state) {
        JsonNode ended = api.awaitState(run, state);
        assertThat(ended.get("credits_reserved").decimalValue()).isEqualByComparingTo("1").isEqualByComparingTo(
                ended.get("credits_charged").decimalValue().add(ended.get("credits_refunded").decimalValue()));
        Map<String, Double> sums = api.get(RUNS + run + "/ledger").json().get("items").valueStream()
                .collect(Collectors.groupingBy(entry -> entry.get("transaction_type").stringValue(),
                        Collectors.summingDouble(entry -> entry.get("amount").doubleValue())));
        assertThat(sums.get("reserve")).isEqualTo(sums.getOrDefault("charge", 0.0) + sums.getOrDefault("refund", 0.0));
        return ended;
    }

    private static void assertAtRest(ApiServer api) {
        Invariants.hold(api.database());
        JsonNode books = api.get("/api/v1/ledger/verify?all=true").json();
        assertThat(books.get("ok").booleanValue()).as(books.toString()).isTrue();
    }

    private void act(String run, String action) {
        ApiServer.Answer answer = api.post(RUNS + run + "/" + action, "{}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    }

    private List<JsonNode> steps(String run) {
        return api.get(RUNS + run + "/steps?limit=200").json().get("items").valueStream().toList();
    }

    private List<JsonNode> tasks(String run) {
        return api.get(RUNS + run + "/tasks?limit=200").json().get("items").valueStream().toList();
    }

    /** How often steps of the run were executed, over all attempts. */
    private int executions(String run) {
        return steps(run).stream().mapToInt(step -> api
                .get("/api/v1/steps/" + step.get("id").stringValue() + "/attempts").json().get("items").size()).sum();
    }

    /** The code of its refusal, or that it was accepted. */
    private String signal(String run, String name, String payload) {
        ApiServer.Answer answer = api.post(RUNS + run + "/signals/" + name, "{\"payload\": " + payload + "}");
        return answer.status() == 200 ? "accepted" : answer.json().get("code").stringValue();
    }

    private static String remote(String tool, String more) {
        return """
                {"name": "m", "start": true%s, "plan": {"total_estimated_cost": 1, "tasks": [
                  {"id": "a", "steps": [{"name": "s", "tool": "%s", "input": {}}]}]}}""".formatted(more, tool);
    }

    private JsonNode claimOne(String worker, String tool) {
        List<JsonNode> items = claim(worker, tool, 30_000, 20_000);
        assertThat(items).hasSize(1);
        return items.getFirst();
    }

    private List<JsonNode> claim(String worker, String tool, int leaseMillis, int waitMillis) {
        ApiServer.Answer answer = api.post("/api/v1/dispatch/claim", """
                {"worker_id": "%s", "tools": ["%s"], "max": 1, "lease_ms": %d, "wait_ms": %d}"""
                .formatted(worker, tool, leaseMillis, waitMillis));
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        List<JsonNode> items = new ArrayList<>();
        answer.json().get("items").forEach(items::add);
        return items;
    }

    private String report(String route, JsonNode item, String members) {
        return report("w", route, item, members);
    }

    private String report(String worker, String route, JsonNode item, String members) {
        return api.post("/api/v1/dispatch/" + route, """
                {"worker_id": "%s", "items": [{"step_id": "%s", "lease_epoch": %d%s}]}""".formatted(worker,
                item.get("step_id").stringValue(), item.get("lease_epoch").intValue(), members)).json()
                .at("/items/0/status").stringValue();
    }
}
