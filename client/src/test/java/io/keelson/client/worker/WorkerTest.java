package io.keelson.client.worker;

import static io.keelson.client.worker.DispatchPeer.RUN;
import static io.keelson.client.worker.DispatchPeer.S1;
import static io.keelson.client.worker.DispatchPeer.S2;
import static io.keelson.client.worker.DispatchPeer.TASK;
import static io.keelson.client.worker.DispatchPeer.id;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.worker.DispatchPeer.Reported;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/** What a handler receives, and how its result is reported. */
class WorkerTest {

    private final DispatchPeer peer = new DispatchPeer();

    @AfterEach
    void close() {
        peer.close();
    }

    @Test
    void claimsForItsToolsAndCompletesWithTheHandlersOutput() throws Exception {
        peer.offer(S1, Map.of("input", Map.of("text", "abc")));
        try (Worker worker = worker(step -> Map.of("length", step.input(Text.class).text().length()))) {
            Reported reported = peer.next();

            assertThat(reported.kind()).isEqualTo("complete");
            assertThat(reported.item())
                    .isEqualTo(json("{\"step_id\":\"" + S1 + "\",\"lease_epoch\":7,\"output\":{\"length\":3}}"));
            JsonNode claim = peer.claims().get(0).body();
            assertThat(claim).isEqualTo(json("{\"worker_id\":\"w1\",\"tools\":[\"work\"],\"max\":2,\"wait_ms\":200,"
                    + "\"again\":true,\"lease_ms\":3000,\"version\":\"1.2\"}"));
            assertThat(worker.id()).isEqualTo("w1");
        }
    }

    @Test
    void aHandlerSeesAllOfItsStep() throws Exception {
        peer.offer(S1, Map.of("attempt", 2, "failure_context", Map.of("error_code", "X"),
                "details", Map.of("done", 41)));
        try (Worker worker = worker(step -> List.of(step.stepId(), step.runId(), step.taskId(), step.tool(),
                step.attempt(), step.leaseEpoch(), step.effectKey(), step.failureContext(), step.previousDetails(),
                step.deadline().equals(Instant.parse("2026-01-02T03:05:05Z")), step.input().isNull(),
                step.cancelled()))) {
            assertThat(peer.next().item().path("output"))
                    .isEqualTo(json("[\"" + S1 + "\",\"" + RUN + "\",\"" + TASK + "\",\"work\",2,7,\"e-" + S1 + "\","
                            + "{\"error_code\":\"X\"},{\"done\":41},true,true,false]"));
        }
    }

    @Test
    void aNamedFailureIsReportedAsSuch() throws Exception {
        peer.offer(S1);
        try (Worker worker = worker(step -> {
            throw new StepFailure("RATE_LIMITED", ErrorClass.INFRASTRUCTURE, "slow down", Duration.ofSeconds(2));
        })) {
            Reported reported = peer.next();

            assertThat(reported.kind()).isEqualTo("fail");
            assertThat(reported.item()).isEqualTo(json("{\"step_id\":\"" + S1 + "\",\"lease_epoch\":7,"
                    + "\"error_code\":\"RATE_LIMITED\",\"error_class\":\"infrastructure\",\"message\":\"slow down\","
                    + "\"retry_after_ms\":2000}"));
        }
    }

    @Test
    void toolsAreAnnouncedUntilAClaimIsAnswered() throws Exception {
        peer.offer(S1).offer(S2);
        ToolSpec spec = new ToolSpec("work", "Does it", Map.of("type", "object"), Effects.ONCE);
        try (Worker worker = Worker.builder(peer.server.client()).id("w1").slots(1).tool(spec, step -> "out").build()
                .start()) {
            peer.next();
            peer.next();
        }
        List<JsonNode> claims = peer.claims().stream().map(claim -> claim.body()).toList();
        assertThat(claims.get(0).path("tool_specs")).isEqualTo(json("[{\"name\":\"work\",\"description\":\"Does it\","
                + "\"input_schema\":{\"type\":\"object\"},\"effects\":\"once\"}]"));
        assertThat(claims).last().satisfies(claim -> assertThat(claim.has("tool_specs")).isFalse());
    }

    @Test
    void busySystemDefersTheStep() throws Exception {
        peer.offer(S1).offer(S2);
        try (Worker worker = worker(step -> {
            throw step.stepId().equals(S1) ? new StepDeferral(Duration.ofSeconds(7), "slow down")
                    : new StepDeferral(Duration.ofMillis(1), "model:small", "MODEL_UNAVAILABLE", "slow down");
        })) {
            Map<String, Reported> reported = byStep(peer.next(), peer.next());

            assertThat(reported.get(S1)).isEqualTo(new Reported("release", json("{\"step_id\":\"" + S1 + "\","
                    + "\"lease_epoch\":7,\"deferral\":{\"retry_after_ms\":7000,\"message\":\"slow down\"}}")));
            assertThat(reported.get(S2).item()).isEqualTo(json("{\"step_id\":\"" + S2 + "\",\"lease_epoch\":7,"
                    + "\"deferral\":{\"retry_after_ms\":1,\"message\":\"slow down\",\"busy\":\"model:small\",\"error_code\":\"MODEL_UNAVAILABLE\"}}"));
        }
    }

    @Test
    void otherExceptionIsAnInfrastructureFailureAndTheWorkerContinues() throws Exception {
        peer.offer(S1).offer(S2);
        try (Worker worker = worker(step -> {
            if (step.stepId().equals(S1)) {
                throw new AssertionError("boom");
            }
            return "fine";
        })) {
            Map<String, Reported> reported = byStep(peer.next(), peer.next());

            assertThat(reported.get(S1).kind()).isEqualTo("fail");
            assertThat(reported.get(S1).item().path("error_code").asString()).isEqualTo("HANDLER_ERROR");
            assertThat(reported.get(S1).item().path("error_class").asString()).isEqualTo("infrastructure");
            assertThat(reported.get(S1).item().path("message").asString()).contains("boom");
            assertThat(reported.get(S2).kind()).isEqualTo("complete");
        }
    }

    @Test
    void inputAndOutputThatDoNotFitArePermanentFailures() throws Exception {
        peer.offer(S1, Map.of("input", List.of(1)));
        peer.offer(S2, Map.of("input", Map.of("text", "x")));
        try (Worker worker = worker(step -> {
            step.input(Text.class);
            return new Object() {
                @SuppressWarnings("unused")
                public String getBroken() {
                    throw new IllegalStateException("no");
                }
            };
        })) {
            Map<String, Reported> reported = byStep(peer.next(), peer.next());

            assertThat(reported.get(S1).item().path("error_code").asString()).isEqualTo("INPUT_INVALID");
            assertThat(reported.get(S2).item().path("error_code").asString()).isEqualTo("OUTPUT_INVALID");
            assertThat(reported.values()).extracting(r -> r.item().path("error_class").asString())
                    .containsOnly("permanent");
        }
    }

    @Test
    void anotherTurnIsAskedForByReturningContinue() throws Exception {
        peer.offer(S1);
        try (Worker worker = worker(step -> new Continue(Map.of("turn", 1)))) {
            Reported reported = peer.next();

            assertThat(reported.kind()).isEqualTo("continue");
            assertThat(reported.item().path("output")).isEqualTo(json("{\"turn\":1}"));
        }
    }

    /** Numbers are the same in all notations. */
    private static void assertSame(JsonNode actual, JsonNode expected) {
        assertThat(actual.equals((a, b) -> a.isNumber() && b.isNumber() ? a.decimalValue().compareTo(b.decimalValue())
                : a.equals(b) ? 0 : 1, expected)).as("%s as %s", actual, expected).isTrue();
    }

    @Test
    void artifactsAndUsageTravelWithTheCompletion() throws Exception {
        peer.offer(S1);
        try (Worker worker = worker(step -> {
            step.artifact("a.txt", "text/plain", "hi".getBytes(StandardCharsets.UTF_8));
            step.usage(12, new BigDecimal("0.5"));
            return null;
        })) {
            assertSame(peer.next().item(), json("{\"step_id\":\"" + S1 + "\",\"lease_epoch\":7,\"output\":null,"
                    + "\"artifacts\":[{\"name\":\"a.txt\",\"content_type\":\"text/plain\",\"content_base64\":\"aGk=\"}],"
                    + "\"tokens\":12,\"cost\":0.5}"));
        }
    }

    @Test
    void progressAndLinesTravelWithTheResultAndDetailsBefore() throws Exception {
        peer.offer(S1);
        try (Worker worker = worker(step -> {
            step.log("one");
            step.progress(0.25, "a quarter");
            step.progress(7, "more than all");
            step.details(Map.of("line", 3));
            step.log("two");
            throw new StepFailure("X", ErrorClass.QUALITY, "no");
        })) {
            Reported heartbeat = peer.next(reported -> true);

            assertThat(heartbeat.kind()).isEqualTo("heartbeat");
            assertSame(heartbeat.item(),
                    json("{\"step_id\":\"" + S1 + "\",\"lease_epoch\":7,\"details\":{\"line\":3}}"));
            Reported failure = peer.next(reported -> true);
            assertThat(failure.kind()).isEqualTo("fail");
            assertSame(failure.item(), json("{\"step_id\":\"" + S1 + "\",\"lease_epoch\":7,\"error_code\":\"X\","
                    + "\"error_class\":\"quality\",\"message\":\"no\","
                    + "\"progress\":{\"fraction\":1.0,\"message\":\"more than all\"},\"logs\":[\"one\",\"two\"]}"));
        }
    }

    @Test
    void useIsSaidByHeartbeatsAndByAFailure() throws Exception {
        CountDownLatch charged = new CountDownLatch(1);
        peer.offer(S1);
        try (Worker worker = worker(step -> {
            step.usage("large", 12);
            charged.await();
            step.usage("large", 20);
            throw new StepFailure("X", ErrorClass.QUALITY, "no");
        })) {
            assertSame(peer.next(reported -> true).item(),
                    json("{\"step_id\":\"" + S1 + "\",\"lease_epoch\":7,\"tokens\":12,\"model\":\"large\"}"));
            charged.countDown();
            JsonNode failure = peer.next().item();
            assertThat(failure.path("tokens").asInt()).isEqualTo(20);
            assertThat(failure.path("model").asString()).isEqualTo("large");
        }
    }

    @Test
    void takesNoMoreStepsThanItHasSlots() throws Exception {
        for (int i = 0; i < 6; i++) {
            peer.offer(id(i));
        }
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch two = new CountDownLatch(2);
        try (Worker worker = worker(step -> {
            most.accumulateAndGet(now.incrementAndGet(), Math::max);
            two.countDown();
            two.await();
            now.decrementAndGet();
            return null;
        })) {
            for (int i = 0; i < 6; i++) {
                assertThat(peer.next().kind()).isEqualTo("complete");
            }
            assertThat(most).hasValue(2);
            assertThat(peer.claims()).extracting(claim -> claim.body().path("max").asInt()).allMatch(max -> max <= 2);
        }
    }

    private Worker worker(StepHandler handler) {
        return Worker.builder(peer.server.client()).id("w1").version("1.2").slots(2).lease(Duration.ofSeconds(3))
                .poll(Duration.ofMillis(200)).grace(Duration.ofSeconds(5)).tool("work", handler).build().start();
    }

    private static Map<String, Reported> byStep(Reported first, Reported second) {
        return Map.of(first.stepId(), first, second.stepId(), second);
    }

    private static JsonNode json(String text) {
        return new ObjectMapper().readTree(text);
    }

    private record Text(String text) {}
}
