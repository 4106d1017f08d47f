package io.keelson.client.worker;

import static io.keelson.client.worker.DispatchPeer.S1;
import static io.keelson.client.worker.DispatchPeer.S2;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.Json;
import io.keelson.client.http.ScriptedServer;
import io.keelson.client.http.ScriptedServer.Answer;
import io.keelson.client.worker.DispatchPeer.Reported;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Lost leases, cut connections, cancelled steps and stopping workers: each race held open, not hoped for. */
class WorkerRaceTest {

    private final DispatchPeer peer = new DispatchPeer();
    private final BlockingQueue<String> seen = new LinkedBlockingQueue<>();
    private final CountDownLatch never = new CountDownLatch(1);

    @AfterEach
    void close() {
        peer.close();
    }

    @Test
    void aLostLeaseStopsTheHandlerAndDropsItsResult() throws Exception {
        peer.answer(S1, Map.of("status", "stop", "reason", "lost")).offer(S1);
        try (Worker worker = settings(Duration.ofSeconds(5), this::workUntilStopped).slots(1).build().start()) {
            assertThat(seen()).isEqualTo(S1 + " begun");
            assertThat(seen()).isEqualTo(S1 + " stopped, cancelled true");
            peer.offer(S2, Map.of("input", "quick"));

            assertThat(peer.next().stepId()).as("the slot is free again and s1 reports nothing").isEqualTo(S2);
        }
        assertThat(peer.rest()).noneMatch(reported -> reported.stepId().equals(S1));
    }

    /** The handler says why it stops: what it returns counts, and without a result the step goes back. */
    @Test
    void anExceededBudgetStopsTheHandlerAndItsReportCounts() throws Exception {
        Map<String, String> over = Map.of("status", "stop", "reason", "budget_exceeded");
        peer.answer(S1, over).answer(S2, over).offer(S1).offer(S2, Map.of("input", "part"));
        try (Worker worker = settings(Duration.ofSeconds(5), step -> {
            step.usage(0, BigDecimal.ONE);
            try {
                never.await();
            } catch (InterruptedException e) {
                if (step.input().asString("").isEmpty()) {
                    throw e;
                }
            }
            return step.stop();
        }).slots(2).build().start()) {
            Map<String, Reported> reports = new HashMap<>();
            while (reports.size() < 2) {
                Reported reported = peer.next();
                reports.putIfAbsent(reported.stepId(), reported);
            }
            assertThat(reports.get(S1).kind()).isEqualTo("release");
            assertThat(reports.get(S2).kind()).isEqualTo("complete");
            assertThat(reports.get(S2).item().path("output").asString()).isEqualTo("BUDGET_EXCEEDED");
        }
    }

    /** While the first request is not answered, results of fewer steps wait for its answer. */
    @Test
    void secondRequestReportsOnceSixteenResultsWait() throws Exception {
        BlockingQueue<Integer> requests = new LinkedBlockingQueue<>();
        AtomicBoolean first = new AtomicBoolean(true);
        CountDownLatch answered = new CountDownLatch(1);
        peer.server.on("POST /api/v1/dispatch/complete", request -> {
            requests.add(request.body().path("items").size());
            if (first.getAndSet(false)) {
                answered.await();
            }
            return answered(request);
        });
        peer.offer(S1);
        try (Worker worker = settings(Duration.ofSeconds(5), step -> "done").slots(40).build().start()) {
            assertThat(requests.poll(20, TimeUnit.SECONDS)).isEqualTo(1);
            IntStream.rangeClosed(2, 17).mapToObj(DispatchPeer::id).forEach(peer::offer);
            assertThat(requests.poll(20, TimeUnit.SECONDS)).as("all of them").isEqualTo(16);
            answered.countDown();
        }
    }

    /** A tool is quick if its last execution was. The step that is offered first ends last. */
    @Test
    void resultsOfQuickStepsShareARequest() throws Exception {
        BlockingQueue<Integer> requests = new LinkedBlockingQueue<>();
        CountDownLatch seven = new CountDownLatch(7);
        peer.server.on("POST /api/v1/dispatch/complete", request -> {
            requests.add(request.body().path("items").size());
            return answered(request);
        });
        peer.offer(S1);
        try (Worker worker = settings(Duration.ofSeconds(5), step -> {
            if (step.stepId().equals(S2)) {
                seven.await();
            } else if (!step.stepId().equals(S1)) {
                seven.countDown();
            }
            return "done";
        }).slots(40).gathering(Duration.ofSeconds(20)).build().start()) {
            assertThat(requests.poll(20, TimeUnit.SECONDS)).isEqualTo(1);
            IntStream.rangeClosed(2, 9).mapToObj(DispatchPeer::id).forEach(peer::offer);
            assertThat(requests.poll(20, TimeUnit.SECONDS)).as("all of them").isEqualTo(8);
        }
    }

    private static Answer answered(ScriptedServer.Request request) {
        return Answer.json(Json.of(Map.of("items", request.body().path("items").valueStream()
                .map(item -> Map.of("step_id", item.path("step_id").asString(), "status", "ok")).toList())).toString());
    }

    @Test
    void aCancelledStepStopsItsHandlerAndNoOther() throws Exception {
        peer.answer(S1, Map.of("status", "stop", "reason", "cancelled")).offer(S1).offer(S2,
                Map.of("input", "hold"));
        CountDownLatch release = new CountDownLatch(1);
        try (Worker worker = worker(Duration.ofSeconds(5), step -> {
            if (step.stepId().equals(S1)) {
                return workUntilStopped(step);
            }
            release.await();
            return step.cancelled();
        })) {
            assertThat(seen()).isEqualTo(S1 + " begun");
            assertThat(seen()).isEqualTo(S1 + " stopped, cancelled true");
            release.countDown();

            Reported reported = peer.next();
            assertThat(reported.stepId()).isEqualTo(S2);
            assertThat(reported.item().path("output").asBoolean()).isFalse();
        }
    }

    @Test
    void resultIsSentAgainAfterALostResponse() throws Exception {
        peer.intervene(Answer.CUT, Answer.problem(503, "{}")).answer(S1, Map.of("status", "duplicate")).offer(S1);
        try (Worker worker = worker(Duration.ofSeconds(5), step -> "out")) {
            Reported first = peer.next();

            assertThat(peer.next()).isEqualTo(first);
            assertThat(peer.next()).isEqualTo(first);
            peer.offer(S2);
            assertThat(peer.next().stepId()).as("duplicate is an answer like ok").isEqualTo(S2);
        }
    }

    @Test
    void aLateResultIsRefusedAndForgotten() throws Exception {
        CountDownLatch thawed = new CountDownLatch(1);
        peer.offer(S1);
        try (Worker worker = worker(Duration.ofSeconds(5), step -> {
            seen.add(step.stepId());
            thawed.await();
            return "late";
        })) {
            assertThat(seen()).isEqualTo(S1);
            peer.next(reported -> reported.kind().equals("heartbeat"));
            peer.intervene(Answer.json("{\"items\":[{\"step_id\":\"" + S1 + "\",\"status\":\"stale_lease\"}]}"));
            thawed.countDown();

            assertThat(peer.next().stepId()).isEqualTo(S1);
            peer.offer(S2);
            assertThat(peer.next().stepId()).isEqualTo(S2);
        }
    }

    @Test
    void aResultThatTheServerWillNeverTakeBecomesAFailure() throws Exception {
        peer.intervene(Answer.json("{\"items\":[{\"step_id\":\"" + S1 + "\",\"status\":\"refused\","
                + "\"code\":\"OUTPUT_TOO_LARGE\",\"detail\":\"at most 1 MiB\"}]}")).offer(S1);
        try (Worker worker = worker(Duration.ofSeconds(5), step -> "out")) {
            assertThat(peer.next().kind()).isEqualTo("complete");
            Reported failure = peer.next();

            assertThat(failure.kind()).isEqualTo("fail");
            assertThat(failure.item().path("error_code").asString()).isEqualTo("OUTPUT_TOO_LARGE");
            assertThat(failure.item().path("error_class").asString()).isEqualTo("quality");
            assertThat(failure.item().path("message").asString()).contains("at most 1 MiB");
        }
    }

    @Test
    void aStepWhoseFailureTheServerWillNeverTakeFailsWithoutItsUse() throws Exception {
        Answer refusal = Answer.json("{\"items\":[{\"step_id\":\"" + S1 + "\",\"status\":\"refused\","
                + "\"code\":\"OUT_OF_RANGE\",\"detail\":\"too much\"}]}");
        peer.intervene(refusal, refusal).offer(S1);
        try (Worker worker = worker(Duration.ofSeconds(5), step -> {
            step.usage(7, BigDecimal.ONE);
            return "out";
        })) {
            assertThat(peer.next().kind()).isEqualTo("complete");
            assertThat(peer.next().item().path("tokens").asInt()).isEqualTo(7);
            Reported failure = peer.next();

            assertThat(failure.kind()).isEqualTo("fail");
            assertThat(failure.item().path("tokens").asInt()).isZero();
            assertThat(failure.item().path("error_code").asString()).isEqualTo("OUT_OF_RANGE");
            assertThat(failure.item().path("error_class").asString()).isEqualTo("permanent");
        }
    }

    @Test
    void oneBadItemDoesNotHoldUpItsBatch() throws Exception {
        CountDownLatch together = new CountDownLatch(1);
        CountDownLatch taken = new CountDownLatch(1);
        peer.server.on("POST /api/v1/dispatch/complete", request -> {
            if (request.body().path("items").size() == 2) {
                together.countDown();
                return Answer.problem(422, "{\"code\":\"BAD_BATCH\"}");
            }
            if (together.getCount() > 0) {
                return Answer.problem(503, "{}");
            }
            if (request.body().toString().contains(S1)) {
                return Answer.problem(422, "{\"code\":\"BAD_ITEM\"}");
            }
            taken.countDown();
            return Answer.json("{\"items\":[{\"step_id\":\"" + S2 + "\",\"status\":\"ok\"}]}");
        });
        peer.offer(S1).offer(S2);
        try (Worker worker = worker(Duration.ofSeconds(5), step -> "out")) {
            Reported failure = peer.next();

            assertThat(failure.kind()).isEqualTo("fail");
            assertThat(failure.stepId()).isEqualTo(S1);
            assertThat(failure.item().path("error_code").asString()).isEqualTo("BAD_ITEM");
            assertThat(taken.await(20, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(peer.rest()).noneMatch(reported -> reported.stepId().equals(S2));
    }

    @Test
    void failedHeartbeatLosesNoProgress() throws Exception {
        CountDownLatch taken = new CountDownLatch(1);
        BlockingQueue<Answer> beats = new LinkedBlockingQueue<>(List.of(Answer.CUT, Answer.problem(503, "{}")));
        peer.server.on("POST /api/v1/dispatch/heartbeat", request -> {
            seen.add(request.body().path("items").path(0).path("logs").toString());
            Answer answer = beats.poll();
            if (answer == null) {
                taken.countDown();
            }
            return answer == null ? Answer.json("{\"items\":[]}") : answer;
        });
        peer.offer(S1);
        try (Worker worker = worker(Duration.ofSeconds(5), step -> {
            step.log("one");
            step.log("two");
            taken.await();
            return null;
        })) {
            assertThat(peer.next().item().has("logs")).as("again").isFalse();
        }
        assertThat(seen).as("cut, refused for now, taken").filteredOn(logs -> !logs.isEmpty())
                .containsExactly("[\"one\",\"two\"]", "[\"one\",\"two\"]", "[\"one\",\"two\"]");
    }

    @Test
    void stoppingLetsRunningHandlersFinish() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        peer.offer(S1);
        Worker worker = worker(Duration.ofSeconds(20), step -> {
            seen.add("begun");
            release.await();
            return "done";
        });
        assertThat(seen()).isEqualTo("begun");
        Thread stop = new Thread(worker::close);
        stop.start();
        int claims = awaitClaimsToEnd();
        release.countDown();
        stop.join();

        assertThat(peer.rest()).filteredOn(reported -> !reported.kind().equals("heartbeat"))
                .extracting(Reported::kind).containsExactly("complete");
        assertThat(peer.claims()).hasSize(claims);
    }

    @Test
    void stoppingHandsBackWhatDoesNotFinishInTime() throws Exception {
        peer.offer(S1);
        Worker worker = worker(Duration.ofMillis(50), this::workUntilStopped);
        assertThat(seen()).isEqualTo(S1 + " begun");

        worker.close();
        worker.awaitStop();

        assertThat(seen()).isEqualTo(S1 + " stopped, cancelled true");
        assertThat(peer.rest()).filteredOn(reported -> !reported.kind().equals("heartbeat")).singleElement()
                .satisfies(reported -> {
                    assertThat(reported.kind()).isEqualTo("release");
                    assertThat(reported.item().path("lease_epoch").asInt()).isEqualTo(7);
                });
    }

    @Test
    void aStepThatArrivesWhileStoppingIsHandedBack() throws Exception {
        CountDownLatch claimed = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        peer.server.on("POST /api/v1/dispatch/claim", request -> {
            claimed.countDown();
            answer.await();
            return Answer.json("{\"items\":[{\"step_id\":\"" + S1 + "\",\"tool\":\"work\",\"lease_epoch\":3}]}");
        });
        Worker worker = worker(Duration.ofSeconds(20), this::workUntilStopped);
        claimed.await();
        Thread stop = new Thread(worker::close);
        stop.start();
        awaitState(stop, Thread.State.TIMED_WAITING);
        answer.countDown();
        stop.join();

        assertThat(peer.rest()).extracting(Reported::kind).containsExactly("release");
        assertThat(seen).isEmpty();
    }

    @Test
    void aServerThatIsAwayDoesNotKeepAWorkerFromStopping() throws Exception {
        peer.offer(S1);
        Worker worker = worker(Duration.ofMillis(50), this::workUntilStopped);
        assertThat(seen()).isEqualTo(S1 + " begun");
        peer.close();
        Thread stop = new Thread(worker::close);
        stop.start();
        stop.interrupt();
        stop.join();

        assertThat(seen()).isEqualTo(S1 + " stopped, cancelled true");
    }

    @Test
    void waitsForAServerThatIsNotThereYet() throws Exception {
        peer.close();
        Worker worker = worker(Duration.ofSeconds(5), step -> "out");
        try (DispatchPeer reborn = new DispatchPeer(new ScriptedServer(peer.server.port()))) {
            reborn.offer(S1);

            assertThat(reborn.next().kind()).isEqualTo("complete");
            worker.close();
        }
    }

    private Worker worker(Duration grace, StepHandler handler) {
        return settings(grace, handler).build().start();
    }

    private Worker.Builder settings(Duration grace, StepHandler handler) {
        return Worker.builder(peer.server.client()).id("w1").slots(2).lease(Duration.ofMillis(600))
                .poll(Duration.ofMillis(200)).grace(grace).tool("work", handler);
    }

    private Object workUntilStopped(StepContext step) throws InterruptedException {
        if (step.input().asString("").equals("quick")) {
            return "quick";
        }
        seen.add(step.stepId() + " begun");
        try {
            never.await();
        } catch (InterruptedException e) {
            seen.add(step.stepId() + " stopped, cancelled " + step.cancelled());
            throw e;
        }
        return "never";
    }

    private String seen() throws InterruptedException {
        return seen.poll(20, TimeUnit.SECONDS);
    }

    /** A claim answered after the stop is the last: heartbeats continue, claims do not. */
    private int awaitClaimsToEnd() throws InterruptedException {
        int claims;
        do {
            claims = peer.claims().size();
            peer.next(reported -> reported.kind().equals("heartbeat"));
            peer.next(reported -> reported.kind().equals("heartbeat"));
        } while (peer.claims().size() > claims);
        return claims;
    }

    private static void awaitState(Thread thread, Thread.State state) {
        while (thread.getState() != state) {
            Thread.onSpinWait();
        }
    }
}
