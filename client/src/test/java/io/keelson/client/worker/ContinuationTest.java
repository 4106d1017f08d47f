package io.keelson.client.worker;

import static io.keelson.client.worker.DispatchPeer.S1;
import static io.keelson.client.worker.DispatchPeer.S2;
import static io.keelson.client.worker.DispatchPeer.S3;
import static io.keelson.client.worker.DispatchPeer.S4;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.http.ScriptedServer.Answer;
import io.keelson.client.worker.DispatchPeer.Reported;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The response to a result has the task's next step, which the worker executes like a claimed one. */
class ContinuationTest {

    private static final Map<String, Object> NEXT = Map.of("step_id", S2, "tool", "work", "lease_epoch", 1);

    private final DispatchPeer peer = new DispatchPeer();
    private final BlockingQueue<String> begun = new LinkedBlockingQueue<>();
    private final CountDownLatch hold = new CountDownLatch(1);

    @AfterEach
    void close() {
        peer.close();
    }

    @Test
    void theNextStepTakesTheSlotOfTheOneBefore() throws Exception {
        peer.answer(S1, Map.of("next", NEXT)).offer(S1);
        try (Worker worker = worker(Duration.ofSeconds(5), step -> "out")) {
            assertThat(peer.next().stepId()).isEqualTo(S1);
            Reported second = peer.next();

            assertThat(second.stepId()).isEqualTo(S2);
            assertThat(second.item().path("lease_epoch").asInt()).isEqualTo(1);
            JsonNode asked = peer.server.requests("POST /api/v1/dispatch/complete").get(0).body().path("claim");
            assertThat(asked.toString()).isEqualTo("{\"tools\":[\"work\"],\"max\":1,\"lease_ms\":600}");
            peer.offer(S3);
            assertThat(peer.next().stepId()).as("the slot is free again").isEqualTo(S3);
        }
    }

    /** Of a report by any route. The step that cannot be read is left to the end of its lease. */
    @ParameterizedTest
    @ValueSource(strings = {"complete", "fail"})
    void stepsClaimedWithAReportAreExecuted(String route) throws Exception {
        peer.intervene(Answer.json("{\"items\":[{\"step_id\":\"" + S1 + "\",\"status\":\"ok\"}],\"claimed\":["
                + "{\"step_id\":\"" + S3 + "\",\"deadline\":\"soon\"},"
                + "{\"step_id\":\"" + S2 + "\",\"tool\":\"work\",\"lease_epoch\":1}]}")).offer(S1);
        try (Worker worker = worker(Duration.ofSeconds(5), step -> {
            if (route.equals("fail") && step.stepId().equals(S1)) {
                throw new StepFailure("BUSY", ErrorClass.INFRASTRUCTURE, "later");
            }
            return "out";
        })) {
            assertThat(peer.next().kind()).isEqualTo(route);
            assertThat(peer.next().stepId()).isEqualTo(S2);
            assertThat(peer.server.requests("POST /api/v1/dispatch/" + route).get(0).body().path("claim").toString())
                    .isEqualTo("{\"tools\":[\"work\"],\"max\":1,\"lease_ms\":600}");
        }
    }

    @Test
    void leaseOfAContinuationIsExtendedAtOnce() throws Exception {
        peer.answer(S1, Map.of("next", NEXT)).offer(S1);
        try (Worker worker = worker(Duration.ofSeconds(5), this::holdSecond)) {
            assertThat(begun()).isEqualTo(S2);

            Reported beat = peer.next(reported -> reported.kind().equals("heartbeat"));
            assertThat(beat.stepId()).isEqualTo(S2);
            hold.countDown();
        }
    }

    @Test
    void aLostAnswersNextStepIsTakenFromTheAnswerToTheRepetition() throws Exception {
        peer.intervene(Answer.CUT).answer(S1, Map.of("status", "duplicate", "next", NEXT)).offer(S1);
        try (Worker worker = worker(Duration.ofSeconds(5), step -> "out")) {
            assertThat(peer.next().stepId()).isEqualTo(S1);
            assertThat(peer.next().stepId()).isEqualTo(S1);

            assertThat(peer.next().stepId()).isEqualTo(S2);
        }
    }

    @Test
    void stepReceivedTwiceIsExecutedOnce() throws Exception {
        peer.answer(S1, Map.of("next", NEXT)).answer(S3, Map.of("next", NEXT)).offer(S1).offer(S3);
        try (Worker worker = worker(2, Duration.ofSeconds(5), this::holdSecond)) {
            assertThat(begun()).isEqualTo(S2);
            peer.offer(S4);
            assertThat(peer.next(reported -> reported.stepId().equals(S4)).kind()).isEqualTo("complete");
            hold.countDown();
            peer.next(reported -> reported.stepId().equals(S2) && reported.kind().equals("complete"));
        }
        assertThat(begun).isEmpty();
    }

    @Test
    void onlyAResultAsksForMoreAndAWorkerThatStopsDoesNot() throws Exception {
        peer.offer(S1);
        Worker worker = worker(Duration.ofSeconds(20), this::holdFirst);
        assertThat(begun()).isEqualTo(S1);
        Thread stop = stop(worker);
        hold.countDown();
        stop.join();

        assertThat(peer.next().kind()).isEqualTo("complete");
        assertThat(peer.server.requests("POST /api/v1/dispatch/complete")).singleElement()
                .satisfies(request -> assertThat(request.body().has("claim")).isFalse());
    }

    @Test
    void workReceivedWhileStoppingIsReleased() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        peer.server.on("POST /api/v1/dispatch/complete", request -> {
            asked.countDown();
            hold.await();
            return Answer.json(
                    "{\"items\":[{\"step_id\":\"" + S1 + "\",\"status\":\"ok\",\"next\":{\"step_id\":\"" + S2 + "\","
                            + "\"tool\":\"work\",\"lease_epoch\":1}}]}");
        });
        peer.offer(S1);
        Worker worker = worker(Duration.ofSeconds(20), step -> {
            begun.add(step.stepId());
            return "out";
        });
        asked.await();
        Thread stop = stop(worker);
        hold.countDown();
        stop.join();

        assertThat(peer.rest()).filteredOn(reported -> reported.kind().equals("release")).singleElement()
                .satisfies(reported -> assertThat(reported.stepId()).isEqualTo(S2));
        assertThat(begun).containsExactly(S1);
    }

    @Test
    void anAnswerThatMakesNoSenseDoesNotEndTheWorker() throws Exception {
        peer.answer(S1, Map.of("next", Map.of("step_id", S2, "deadline", "soon"))).offer(S1);
        try (Worker worker = worker(Duration.ofSeconds(5), step -> "out")) {
            assertThat(peer.next().stepId()).isEqualTo(S1);
            peer.offer(S3);

            assertThat(peer.next().stepId()).isEqualTo(S3);
        }
    }

    private Object holdFirst(StepContext step) throws InterruptedException {
        begun.add(step.stepId());
        hold.await();
        return "out";
    }

    private Object holdSecond(StepContext step) throws InterruptedException {
        return step.stepId().equals(S2) ? holdFirst(step) : "out";
    }

    /** Returns when the worker no longer claims. */
    private Thread stop(Worker worker) {
        Thread stop = new Thread(worker::close);
        stop.start();
        while (stop.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        return stop;
    }

    private Worker worker(Duration grace, StepHandler handler) {
        return worker(1, grace, handler);
    }

    private Worker worker(int slots, Duration grace, StepHandler handler) {
        return Worker.builder(peer.server.client()).id("w1").slots(slots).lease(Duration.ofMillis(600))
                .poll(Duration.ofMillis(200)).grace(grace).tool("work", handler).build().start();
    }

    private String begun() throws InterruptedException {
        String step = begun.poll(20, TimeUnit.SECONDS);
        assertThat(List.of(S1, S2)).contains(step);
        return step;
    }
}
