package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.Invariants;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** One request has a worker's reports and its claim for the slots that they free. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ClaimWithReportsTest {
    private static final int RACING_RUNS = 24;

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
        Stream.of("test.fills", "test.counts", "test.rejects", "test.lost", "test.dies", "test.drains", "test.bad",
                "test.routes", "test.races").forEach(tool -> claim(tool, "keeper", 1, 0));
    }

    @AfterAll
    void stop() {
        api.close();
    }

    private List<JsonNode> claim(String tool, String worker, int max, int waitMillis) {
        return list(api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"" + worker + "\", \"tools\": [\"" + tool
                + "\"], \"max\": " + max + ", \"wait_ms\": " + waitMillis + "}"), "items");
    }

    private JsonNode claimOne(String tool) {
        return claim(tool, "w", 1, 20_000).getFirst();
    }

    private static List<JsonNode> list(ApiServer.Answer answer, String member) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().get(member).valueStream().toList();
    }

    private String create(String tool, int steps) {
        return api.create("{\"name\": \"r\", \"start\": true, \"plan\": {\"tasks\": [{\"id\": \"t\", \"title\": \"T\","
                + " \"steps\": [" + IntStream.range(0, steps)
                        .mapToObj(i -> "{\"name\": \"s" + i + "\", \"tool\": \"" + tool + "\"}")
                        .collect(Collectors.joining(", "))
                + "]}]}}");
    }

    private static String item(JsonNode claimed, String members) {
        return "{\"step_id\": " + claimed.get("step_id") + ", \"lease_epoch\": " + claimed.get("lease_epoch") + members
                + "}";
    }

    private static String body(String worker, List<String> items, String tool, int max, String members) {
        return "{\"worker_id\": \"" + worker + "\", \"items\": " + items + ", \"claim\": {\"tools\": [\"" + tool
                + "\"], \"max\": " + max + members + "}}";
    }

    private ApiServer.Answer complete(List<JsonNode> steps, String tool, int max) {
        return api.post("/api/v1/dispatch/complete",
                body("w", steps.stream().map(step -> item(step, ", \"output\": 1")).toList(), tool, max, ""));
    }

    private static List<String> statuses(ApiServer.Answer answer) {
        return list(answer, "items").stream().map(item -> item.get("status").stringValue()).toList();
    }

    private static Set<String> runs(List<JsonNode> steps) {
        return steps.stream().map(step -> step.get("run_id").stringValue()).collect(Collectors.toSet());
    }

    @Test
    void reportedSlotsAreFilledInTheAnswer() {
        String first = create("test.fills", 1);
        JsonNode step = claimOne("test.fills");
        String second = create("test.fills", 1);

        ApiServer.Answer answer = complete(List.of(step), "test.fills", 1);

        assertThat(statuses(answer)).containsExactly("ok");
        assertThat(api.run(first).get("state").stringValue()).isEqualTo("completed");
        List<JsonNode> claimed = list(answer, "claimed");
        assertThat(runs(claimed)).containsExactly(second);
        assertThat(claimed.getFirst().propertyNames()).isEqualTo(step.propertyNames());
        ApiServer.Answer last = complete(claimed, "test.fills", 1);
        assertThat(statuses(last)).containsExactly("ok");
        assertThat(list(last, "claimed")).as("nothing is ready").isEmpty();
        String third = create("test.fills", 1);
        assertThat(runs(claim("test.fills", "w", 1, 20_000))).containsExactly(third);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void nextStepOfTheTaskUsesASlotOfTheClaim(int max) {
        create("test.counts", 2);
        JsonNode step = claimOne("test.counts");
        String waiting = create("test.counts", 1);

        ApiServer.Answer answer = complete(List.of(step), "test.counts", max);

        JsonNode next = list(answer, "items").getFirst().get("next");
        List<JsonNode> claimed = list(answer, "claimed");
        assertThat(next.get("task_id")).isEqualTo(step.get("task_id"));
        assertThat(claimed).hasSize(max - 1);
        List<JsonNode> rest = claimed.isEmpty() ? List.of(claimOne("test.counts")) : claimed;
        assertThat(runs(rest)).containsExactly(waiting);
        assertThat(statuses(complete(List.of(next, rest.getFirst()), "test.counts", 1))).containsExactly("ok", "ok");
    }

    @Test
    void aShortClaimRequestsNextStepsOfTheFirstReports() {
        create("test.counts", 2);
        create("test.counts", 2);
        List<JsonNode> steps = Stream.of(claimOne("test.counts"), claimOne("test.counts")).toList();

        List<JsonNode> answers = list(complete(steps, "test.counts", 1), "items");

        assertThat(answers).extracting(each -> each.has("next")).containsExactly(true, false);
        complete(List.of(answers.getFirst().get("next"), claimOne("test.counts")), "test.counts", 1);
    }

    @Test
    void rejectedReportKeepsItsSlotBesideAcceptedOnes() {
        create("test.rejects", 1);
        create("test.rejects", 1);
        List<JsonNode> steps = claim("test.rejects", "w", 2, 20_000);
        create("test.rejects", 1);
        create("test.rejects", 1);
        String unreadable = ", \"output\": 1, \"artifacts\": [{\"name\": \"a\", \"content_type\": \"text/plain\","
                + " \"content_base64\": \"?\"}]";

        ApiServer.Answer answer = api.post("/api/v1/dispatch/complete",
                body("w", List.of(item(steps.getFirst(), unreadable), item(steps.getLast(), ", \"output\": 1")),
                        "test.rejects", 2, ""));

        assertThat(statuses(answer)).containsExactly("rejected", "ok");
        List<JsonNode> claimed = list(answer, "claimed");
        assertThat(claimed).hasSize(1);
        assertThat(statuses(complete(List.of(steps.getFirst(), claimed.getFirst()), "test.rejects", 2)))
                .containsExactly("ok", "ok");
    }

    @Test
    void repetitionAfterALostAnswerDoublesNothing() {
        create("test.lost", 2);
        JsonNode step = claimOne("test.lost");
        create("test.lost", 1);
        String request = body("w", List.of(item(step, ", \"output\": 1")), "test.lost", 2, ", \"lease_ms\": 1000");
        ApiServer.Answer lost = api.post("/api/v1/dispatch/complete", request);

        ApiServer.Answer answer = api.post("/api/v1/dispatch/complete", request);

        assertThat(statuses(answer)).containsExactly("duplicate");
        assertThat(list(answer, "items").getFirst().get("next"))
                .isEqualTo(list(lost, "items").getFirst().get("next"));
        JsonNode unseen = list(lost, "claimed").getFirst();
        assertThat(list(answer, "claimed")).as("the lease of the lost claim lasts").isEmpty();
        List<JsonNode> later = new ArrayList<>(claim("test.lost", "other", 2, 20_000));
        assertThat(later).allSatisfy(each -> assertThat(each.get("lease_epoch").intValue()).isEqualTo(2));
        while (later.size() < 2) {
            later.addAll(claim("test.lost", "other", 2, 20_000));
        }
        assertThat(later).as("given back at the end of its lease")
                .anyMatch(each -> each.get("step_id").equals(unseen.get("step_id")));
    }

    /** The report waits for a lock while its connection closes. */
    @Test
    void stepsForAWorkerThatHasGoneAreReleased() throws Exception {
        String run = create("test.dies", 1);
        JsonNode step = claimOne("test.dies");
        String waiting = create("test.dies", 1);
        String request = body("w", List.of(item(step, ", \"output\": 1")), "test.dies", 1, "");
        Socket socket = new Socket(api.url().getHost(), api.url().getPort());
        api.database().runInTransaction(c -> {
            try (var s = c.createStatement()) {
                s.execute("select from run_heads where run_id = '" + run + "' for update");
            }
            try {
                socket.getOutputStream()
                        .write(("POST /api/v1/dispatch/complete HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                                + api.key() + "\r\nContent-Type: application/json\r\nContent-Length: "
                                + request.length() + "\r\n\r\n" + request).getBytes(StandardCharsets.UTF_8));
                api.awaitLock();
                socket.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });

        api.awaitState(run, "completed");
        assertThat(runs(claim("test.dies", "other", 1, 20_000))).containsExactly(waiting);
    }

    @Test
    void drainedWorkerReportsAndGetsNothing() {
        create("test.drains", 2);
        JsonNode step = claim("test.drains", "tired", 1, 20_000).getFirst();
        create("test.drains", 1);
        assertThat(api.post("/api/v1/workers/tired/drain", "").status()).isEqualTo(204);

        ApiServer.Answer answer = api.post("/api/v1/dispatch/complete",
                body("tired", List.of(item(step, ", \"output\": 1")), "test.drains", 5, ""));

        assertThat(statuses(answer)).containsExactly("ok");
        assertThat(list(answer, "items").getFirst().has("next")).isFalse();
        assertThat(list(answer, "claimed")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "{\"tools\": [\"mcp.files.read\"], \"max\": 1} | /claim/tools/0",
            "{\"tools\": [\"test.bad\"], \"max\": 0} | /claim/max",
            "{\"tools\": [\"test.bad\"], \"max\": 1001} | /claim/max",
            "{\"tools\": [], \"max\": 1} | /claim/tools",
            "{\"tools\": [\"test.bad\"], \"max\": 1, \"wait_ms\": 5} | /claim/wait_ms",
            "{\"tools\": [\"test.bad\"], \"max\": 1}, \"next\": {\"tools\": [\"test.bad\"]} | /next"})
    void refusedClaimLeavesItsReportsUnrecorded(String claim, String pointer) {
        String run = create("test.bad", 1);
        JsonNode step = claimOne("test.bad");

        ApiServer.Answer answer = api.post("/api/v1/dispatch/complete", "{\"worker_id\": \"w\", \"items\": ["
                + item(step, ", \"output\": 1") + "], \"claim\": " + claim + "}");

        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        assertThat(answer.json().at("/problems/0/pointer").asString()).isEqualTo(pointer);
        assertThat(api.run(run).get("state").stringValue()).isEqualTo("running");
        assertThat(statuses(complete(List.of(step), "test.bad", 1))).containsExactly("ok");
    }

    @ParameterizedTest
    @ValueSource(strings = {"continue", "fail", "release"})
    void reportsOfEachRouteFreeSlots(String route) {
        String run = create("test.routes", 1);
        JsonNode step = claimOne("test.routes");
        String waiting = create("test.routes", 1);
        String members = switch (route) {
            case "fail" -> ", \"error_code\": \"BUSY\"";
            case "release" -> ", \"deferral\": {\"retry_after_ms\": 86400000}";
            default -> ", \"output\": 1";
        };

        ApiServer.Answer answer = api.post("/api/v1/dispatch/" + route,
                body("w", List.of(item(step, members)), "test.routes", 1, ""));

        assertThat(statuses(answer)).containsExactly("ok");
        assertThat(runs(list(answer, "claimed"))).containsExactly(waiting);
        complete(list(answer, "claimed"), "test.routes", 1);
        api.post("/api/v1/runs/" + run + "/cancel", "{}");
    }

    /** Two workers send each request twice, and lose one of the answers. */
    @Test
    void racingWorkersDoEachStepOnce() throws Exception {
        for (int i = 0; i < RACING_RUNS; i++) {
            create("test.races", 2);
        }
        Set<String> begun = ConcurrentHashMap.newKeySet();
        try (ExecutorService workers = Executors.newFixedThreadPool(2)) {
            List<Callable<Integer>> both = List.of(() -> work("one", begun), () -> work("two", begun));
            int accepted = 0;
            for (Future<Integer> each : workers.invokeAll(both)) {
                accepted += each.get();
            }
            assertThat(accepted).isEqualTo(2 * RACING_RUNS);
        }
        assertThat(begun).hasSize(2 * RACING_RUNS);
        Invariants.hold(api.database());
    }

    private int work(String worker, Set<String> begun) {
        int accepted = 0;
        List<JsonNode> held = claim("test.races", worker, 4, 2_000);
        while (!held.isEmpty()) {
            assertThat(held).allSatisfy(step -> assertThat(begun.add(item(step, ""))).as("leased once").isTrue());
            String request = body(worker, held.stream().map(step -> item(step, ", \"output\": 1")).toList(),
                    "test.races", 4, "");
            ApiServer.Answer first = api.post("/api/v1/dispatch/complete", request);
            ApiServer.Answer again = api.post("/api/v1/dispatch/complete", request);
            accepted += (int) statuses(first).stream().filter("ok"::equals).count();
            assertThat(statuses(again)).containsOnly("duplicate");
            Set<String> seen = new HashSet<>();
            held = Stream.of(list(again, "items").stream().filter(each -> each.has("next"))
                    .map(each -> each.get("next")), list(first, "claimed").stream(), list(again, "claimed").stream())
                    .flatMap(each -> each).filter(step -> seen.add(item(step, ""))).toList();
            if (held.isEmpty()) {
                held = claim("test.races", worker, 4, 300);
            }
        }
        return accepted;
    }
}
