package io.keelson.client.worker;

import static io.keelson.client.worker.DispatchPeer.S1;
import static io.keelson.client.worker.DispatchPeer.S2;
import static io.keelson.client.worker.DispatchPeer.S3;
import static io.keelson.client.worker.DispatchPeer.S4;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.http.ScriptedServer.Answer;
import io.keelson.client.worker.DispatchPeer.Reported;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** A worker executes the following steps of an assignment before it reports. */
class ChainTest {

    private static final String WARM = DispatchPeer.id(50);
    private static final Map<String, Object> CHAIN = Map.of("following", List.of(step(S2), step(S3)));

    private final DispatchPeer peer = new DispatchPeer();
    private final BlockingQueue<String> begun = new LinkedBlockingQueue<>();

    @AfterEach
    void close() {
        peer.close();
    }

    private static Map<String, Object> step(String id) {
        return Map.of("step_id", id, "tool", "work", "lease_epoch", 1);
    }

    private static Map<String, Object> continues(String next) {
        return Map.of("next", step(next));
    }

    private Worker worker(Duration longest, StepHandler handler) throws InterruptedException {
        Worker worker = Worker.builder(peer.server.client()).id("w1").slots(1).poll(Duration.ofMillis(100))
                .chain(longest).tool(new ToolSpec("work", "Reads", Map.of(), Effects.READ), step -> {
                    begun.add(step.stepId());
                    return handler.handle(step);
                }).build().start();
        peer.offer(WARM);
        assertThat(peer.next().stepId()).as("the time of its tool is known").isEqualTo(WARM);
        return worker;
    }

    private Worker worker(StepHandler handler) throws InterruptedException {
        return worker(Duration.ofMinutes(5), handler);
    }

    private List<String> nextReport(int number) {
        return peer.server.requests("POST /api/v1/dispatch/complete").get(number).body().path("items").valueStream()
                .map(item -> item.path("step_id").asString()).toList();
    }

    @Test
    void resultsOfAChainAreOneRequest() throws Exception {
        try (Worker worker = worker(step -> "out")) {
            peer.offer(S1, CHAIN);
            assertThat(List.of(peer.next().stepId(), peer.next().stepId(), peer.next().stepId()))
                    .containsExactly(S1, S2, S3);
            assertThat(nextReport(1)).containsExactly(S1, S2, S3);
            JsonNode claim = peer.server.requests("POST /api/v1/dispatch/complete").get(1).body().path("claim");
            assertThat(claim.path("max").asInt()).as("they use one slot").isEqualTo(1);
            assertThat(claim.path("chains").toString()).isEqualTo("[\"work\"]");
            assertThat(peer.claims().get(0).body().path("chains").toString()).isEqualTo("[\"work\"]");
            peer.offer(S4);
            assertThat(peer.next().stepId()).as("the slot is free").isEqualTo(S4);
        }
        assertThat(begun).containsExactly(WARM, S1, S2, S3, S4);
    }

    @Test
    void stepWithNewsWaitsForEarlierReports() throws Exception {
        peer.answer(S1, continues(S2));
        try (Worker worker = worker(step -> {
            if (step.stepId().equals(S2)) {
                step.log("reading");
            }
            return "out";
        })) {
            peer.offer(S1, CHAIN);
            assertThat(peer.next().stepId()).isEqualTo(S1);
            Reported second = peer.next();
            assertThat(second.stepId()).isEqualTo(S2);
            assertThat(second.item().path("logs").toString()).isEqualTo("[\"reading\"]");
            assertThat(peer.next().stepId()).isEqualTo(S3);
            assertThat(nextReport(1)).containsExactly(S1);
            assertThat(nextReport(2)).containsExactly(S2, S3);
        }
        assertThat(begun).as("the answer's next step was begun before").containsExactly(WARM, S1, S2, S3);
    }

    @Test
    void uploadWaitsForEarlierReports(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("a.txt"), "1");
        peer.answer(S1, continues(S2)).server.on("POST /api/v1/dispatch/artifacts", request -> {
            begun.add("upload after " + peer.server.requests("POST /api/v1/dispatch/complete").size());
            return Answer.json("{\"upload_id\":\"" + S4 + "\"}");
        });
        try (Worker worker = worker(step -> {
            if (step.stepId().equals(S2)) {
                step.artifact("a.txt", "text/plain", file);
            }
            return "out";
        })) {
            peer.offer(S1, CHAIN);
            peer.next(reported -> reported.stepId().equals(S2));
            assertThat(begun).contains("upload after 2");
        }
    }

    /** The step is pending again at the server, which may give it to this worker as well. */
    @Test
    void stepWhoseLeaseDoesNotBeginIsDropped() throws Exception {
        CountDownLatch stopped = new CountDownLatch(1);
        try (Worker worker = worker(step -> {
            if (step.stepId().equals(S2) && step.input().isNull()) {
                try {
                    step.log("reading");
                    new CountDownLatch(1).await();
                } finally {
                    stopped.countDown();
                }
            }
            return "out";
        })) {
            peer.offer(S1, CHAIN);
            assertThat(peer.next().stepId()).isEqualTo(S1);
            stopped.await();
            peer.offer(S2, Map.of("input", "again", "lease_epoch", 1));
            Reported reported = peer.next();
            assertThat(List.of(reported.stepId(), reported.kind())).containsExactly(S2, "complete");
        }
        assertThat(begun).containsExactly(WARM, S1, S2, S2);
    }

    @Test
    void failureFollowsEarlierReports() throws Exception {
        peer.intervene(Answer.json("{\"items\":[{\"step_id\":\"" + WARM + "\",\"status\":\"ok\"}]}"), Answer.CUT)
                .answer(S1, continues(S2));
        try (Worker worker = worker(step -> {
            if (step.stepId().equals(S2)) {
                throw new StepFailure("BROKEN", ErrorClass.PERMANENT, "broken");
            }
            return "out";
        })) {
            peer.offer(S1, CHAIN);
            assertThat(peer.next().stepId()).isEqualTo(S1);
            assertThat(peer.next().stepId()).as("repeated after a lost answer").isEqualTo(S1);
            Reported failure = peer.next();
            assertThat(List.of(failure.stepId(), failure.kind())).containsExactly(S2, "fail");
        }
        assertThat(begun).containsExactly(WARM, S1, S2);
    }

    @Test
    void stepsOfASlowToolAreReportedOneByOne() throws Exception {
        peer.answer(S1, continues(S2)).answer(S2, continues(S3));
        try (Worker worker = worker(Duration.ofNanos(1), step -> "out")) {
            peer.offer(S1, CHAIN);
            peer.next(reported -> reported.stepId().equals(S3));
            assertThat(nextReport(1)).containsExactly(S1);
            assertThat(nextReport(2)).containsExactly(S2);
        }
        assertThat(begun).containsExactly(WARM, S1, S2, S3);
    }
}
