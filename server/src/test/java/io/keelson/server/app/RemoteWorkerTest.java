package io.keelson.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.keelson.api.money.LedgerEntry;
import io.keelson.api.money.TokenPrices;
import io.keelson.api.money.TokenUsage;
import io.keelson.api.run.Artifact;
import io.keelson.api.run.Event;
import io.keelson.api.run.LogLine;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.api.run.StepAttempt;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.plan.Mission;
import io.keelson.client.worker.ErrorClass;
import io.keelson.client.worker.StepContext;
import io.keelson.client.worker.StepFailure;
import io.keelson.client.worker.StepHandler;
import io.keelson.client.worker.Worker;
import io.keelson.core.Breadth;
import io.keelson.server.ServerProxy;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The client and its workers against a whole server, over HTTP. */
@Breadth.Spread
class RemoteWorkerTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir
    private Path dataDir;

    private final DatabaseUrl database = TestDatabase.createUrl();
    private final BlockingQueue<StepContext> begun = new LinkedBlockingQueue<>();
    private final CountDownLatch never = new CountDownLatch(1);
    private Server server;
    /** The clients' way to the server, which has another port after a restart. */
    private ServerProxy proxy;
    private Keelson keelson;

    @BeforeEach
    void start() throws Exception {
        server = newServer();
        proxy = new ServerProxy(() -> server.baseUrl());
        keelson = Keelson.builder().url(proxy.url().toString()).apiKey(server.apiKey()).build();
    }

    @AfterEach
    void stop() throws Exception {
        proxy.close();
        server.close();
    }

    @Test
    void toolExistsFromItsWorkersFirstClaim() throws Exception {
        KeelsonException refusal = catchThrowableOfType(KeelsonException.class, this::submit);
        assertThat(refusal.problems()).extracting(problem -> problem.code() + " " + problem.pointer())
                .containsExactly("UNKNOWN_TOOL /plan/tasks/0/steps/0/tool");

        try (Worker worker =
                worker("w1", step -> Map.of("greeting", "hello " + step.input().path("name").asString()))) {
            Run ended = end(submitted());

            assertThat(ended.state()).isEqualTo("completed");
            assertThat(ended.output()).isEqualTo(Json.of(Map.of("greeting", "hello Ada")));
            assertThat(keelson.workers()).singleElement().satisfies(info -> {
                assertThat(info.id()).isEqualTo(worker.id());
                assertThat(info.tools()).containsExactly("work");
            });
        }
    }

    @Test
    void nextStepGoesToTheTasksWorker() throws Exception {
        try (Worker worker = worker("w1", step -> step.input().path("n").asInt() + 1)) {
            Run ended = end(submitted(this::submitThreeSteps));

            assertThat(ended.output().asInt()).isEqualTo(3);
            assertThat(keelson.runs().steps(ended.id())).hasSize(3)
                    .allSatisfy(step -> assertThat(step.attempt()).isEqualTo(1));
            List<Event> events = keelson.runs().events(ended.id(), 0, 100).items();
            List<Instant> begun = times(events, "step_started");
            List<Instant> done = times(events, "step_completed");
            assertThat(begun.subList(1, 3)).as("each in the commit that ended the one before")
                    .isEqualTo(done.subList(0, 2));
        }
    }

    /** Larger than what a result may carry. */
    @Test
    void aFileOfAnySizeIsUploaded() throws Exception {
        Path file = Files.write(dataDir.resolve("large"), new byte[9 << 20]);
        try (Worker worker = worker("w1", step -> {
            step.artifact("large file.bin", "application/octet-stream", file);
            return "out";
        })) {
            Artifact artifact = keelson.runs().artifacts(end(submitted()).id()).get(0);
            assertThat(artifact.name()).isEqualTo("large file.bin");
            assertThat(artifact.sizeBytes()).isEqualTo(9 << 20);
            keelson.runs().remove(artifact);
            assertThat(keelson.runs().artifacts(artifact.runId()).get(0).deletedAt()).isNotNull();
        }
    }

    @Test
    void handlersProgressIsReadable() throws Exception {
        try (Worker worker = worker("w1", step -> {
            step.log("one");
            step.log("two");
            step.progress(0.5, "half");
            step.usage(7, new BigDecimal("0.25"));
            step.artifact("a.txt", "text/plain", "content".getBytes(StandardCharsets.UTF_8));
            return "out";
        })) {
            Run ended = end(submitted());

            Step step = keelson.runs().steps(ended.id()).get(0);
            assertThat(step.progress()).isEqualTo(0.5);
            assertThat(step.progressMessage()).isEqualTo("half");
            assertThat(keelson.steps().logs(step.id())).extracting(LogLine::message).containsExactly("one", "two");
            assertThat(ended.totalTokens()).isEqualTo(7);
            assertThat(ended.totalCost()).isEqualByComparingTo("0.25");
            assertThat(contents(keelson.runs().artifacts(ended.id()))).isEqualTo(Map.of("a.txt", "content"));
        }
    }

    private static final TokenUsage USED = new TokenUsage(500_000, 300_000, 100_000, 100_000, 40_000);

    @Test
    void serverPricesTokens() throws Exception {
        keelson.prices().setModel("large", new TokenPrices(new BigDecimal("2"), new BigDecimal("0.2"),
                new BigDecimal("2.5"), new BigDecimal("8")));
        try (Worker worker = worker("w1", step -> {
            step.usage(7, new BigDecimal("0.25"));
            step.usage("large", USED);
            return null;
        })) {
            Run ended = end(submitted());

            assertThat(ended.totalTokens()).isEqualTo(1_000_000);
            assertThat(ended.usage()).isEqualTo(USED);
            assertThat(ended.totalCost()).isEqualByComparingTo("2.11");
            StepAttempt attempt = keelson.steps().attempts(keelson.runs().steps(ended.id()).get(0).id()).get(0);
            assertThat(attempt.usage()).isEqualTo(USED);
            List<LedgerEntry> charges = keelson.ledger().ofRun(ended.id()).stream().filter(each -> each.usage() != null)
                    .toList();
            assertThat(charges.stream().map(LedgerEntry::usage).filter(Objects::nonNull)
                    .reduce((one, more) -> new TokenUsage(one.input() + more.input(),
                            one.cacheRead() + more.cacheRead(), one.cacheWrite() + more.cacheWrite(),
                            one.output() + more.output(), one.reasoning() + more.reasoning())))
                    .as("heartbeats may have charged a part before").contains(USED);
            assertThat(charges.stream().map(LedgerEntry::amount).reduce(BigDecimal.ZERO, BigDecimal::add))
                    .isEqualByComparingTo("2.11");
        }
    }

    @Test
    void nextAttemptGetsTheLastOnesDetailsAndError() throws Exception {
        try (Worker worker = worker("w1", step -> {
            if (step.attempt() == 1) {
                step.details(Map.of("done", 41));
                throw new StepFailure("FLAKY", ErrorClass.INFRASTRUCTURE, "not yet", Duration.ZERO);
            }
            return Map.of("details", step.previousDetails(), "failure", step.failureContext());
        })) {
            Run ended = end(submitted());

            assertThat(ended.state()).isEqualTo("completed");
            assertThat(ended.output().path("details")).isEqualTo(Json.of(Map.of("done", 41)));
            assertThat(ended.output().path("failure").path("error_code").asString()).isEqualTo("FLAKY");
            assertThat(ended.output().path("failure").path("message").asString()).isEqualTo("not yet");
        }
    }

    @Test
    void aPermanentFailureEndsTheRun() throws Exception {
        try (Worker worker = worker("w1", step -> {
            throw new StepFailure("NO_SUCH_THING", ErrorClass.PERMANENT, "gone");
        })) {
            Run ended = end(submitted());

            assertThat(ended.state()).isEqualTo("failed");
            Step step = keelson.runs().steps(ended.id()).get(0);
            assertThat(step.attempt()).isEqualTo(1);
            assertThat(step.errorCode()).isEqualTo("NO_SUCH_THING");
            assertThat(step.errorClass()).isEqualTo("permanent");
        }
    }

    @Test
    void cancellingARunStopsItsHandler() throws Exception {
        BlockingQueue<Boolean> stopped = new LinkedBlockingQueue<>();
        try (Worker worker = worker("w1", Duration.ofSeconds(3), step -> {
            try {
                return holdOn(step);
            } catch (InterruptedException e) {
                stopped.add(step.cancelled());
                throw e;
            }
        })) {
            Run run = submitted();
            begun();
            keelson.runs().cancel(run.id(), "enough");

            assertThat(end(run).state()).isEqualTo("cancelled");
            assertThat(stopped.poll(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void aStepHandedBackGoesToAnotherWorkerUnderTheSameAttempt() throws Exception {
        Run run;
        try (Worker first = worker("w1", step -> {
            step.details("from w1");
            return holdOn(step);
        })) {
            run = submitted();
            begun();
        }
        try (Worker second = worker("w2", step -> List.of(step.attempt(), step.leaseEpoch(), step.previousDetails()))) {
            JsonNode output = end(run).output();
            assertThat(output.get(0).intValue()).as("attempt").isEqualTo(1);
            assertThat(output.get(1).intValue()).as("epoch; a claim of the first worker's may still have been parked")
                    .isGreaterThanOrEqualTo(2);
            assertThat(output.get(2).stringValue()).isEqualTo("from w1");
        }
    }

    @Test
    void aWorkerThatWasFrozenPastItsLeaseIsTooLate() throws Exception {
        JsonNode claim = Json.of(Map.of("worker_id", "frozen", "tools", List.of("work"), "lease_ms", 1_000));
        keelson.api().post("/dispatch/claim", claim);
        Run run = submit();
        JsonNode item = keelson.api().post("/dispatch/claim", Json.of(Map.of("worker_id", "frozen", "tools",
                List.of("work"), "lease_ms", 1_000, "wait_ms", 20_000))).path("items").path(0);
        try (Worker other = worker("w2", step -> "in time")) {
            Run ended = end(run);
            JsonNode late = keelson.api().post("/dispatch/complete",
                    Json.of(Map.of("worker_id", "frozen", "items", List.of(Map.of("step_id", item.path("step_id"),
                            "lease_epoch", item.path("lease_epoch"), "output", "late")))));

            assertThat(late.path("items").path(0).path("status").asString()).isEqualTo("stale_lease");
            assertThat(ended.output().asString()).isEqualTo("in time");
            assertThat(keelson.runs().get(run.id())).isEqualTo(ended);
        }
    }

    @Test
    void workAndWaitsContinueAfterARestart() throws Exception {
        CountDownLatch restarted = new CountDownLatch(1);
        try (Worker worker = worker("w1", step -> {
            begun.add(step);
            restarted.await();
            return "done " + step.leaseEpoch();
        })) {
            Run run = submitted();
            begun();
            server.close();
            server = newServer();
            restarted.countDown();

            assertThat(end(run).output().asString()).isEqualTo("done 1");
        }
    }

    private Server newServer() throws Exception {
        return Server.start(Settings.load(Map.of("KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL",
                "postgresql://" + database.user() + ":" + database.password() + "@" + database.hosts() + "/"
                        + database.database() + "?" + database.parameters()),
                dataDir, dataDir));
    }

    private Worker worker(String id, StepHandler handler) {
        return worker(id, LONG, handler);
    }

    /** @param lease that no pause of the machine may exceed; heartbeats are more frequent in a short one */
    private Worker worker(String id, Duration lease, StepHandler handler) {
        return Worker.builder(keelson).id(id).lease(lease).poll(Duration.ofMillis(500))
                .grace(Duration.ofMillis(500)).tool("work", handler).build().start();
    }

    private Run submit() {
        return keelson.runs().create(Mission.named("remote").goal("work elsewhere")
                .task("t", t -> t.step("s", "work", Map.of("name", "Ada"), s -> s.timeout(LONG)))
                .output(Mission.expr(".tasks.t.output")).start());
    }

    private Run submitThreeSteps() {
        return keelson.runs().create(Mission.named("remote").goal("count")
                .task("t", t -> t.step("one", "work", Map.of("n", 0))
                        .step("two", "work", Map.of("n", Mission.expr(".steps.one.output")))
                        .step("three", "work", Map.of("n", Mission.expr(".steps.two.output"))))
                .output(Mission.expr(".tasks.t.output")).start());
    }

    private static List<Instant> times(List<Event> events, String type) {
        return events.stream().filter(event -> event.eventType().equals(type))
                .map(event -> Objects.requireNonNull(event.createdAt())).toList();
    }

    private Run submitted() {
        return submitted(this::submit);
    }

    /** Submits once the tool is known. */
    private Run submitted(Callable<Run> submission) {
        await().atMost(LONG)
                .until(() -> keelson.tools().stream().anyMatch(tool -> tool.name().equals("work")));
        return await().atMost(LONG).ignoreException(KeelsonException.class)
                .until(submission, run -> true);
    }

    private Run end(Run run) {
        return keelson.runs().awaitEnd(run.id(), LONG);
    }

    private Object holdOn(StepContext step) throws InterruptedException {
        begun.add(step);
        never.await();
        return "never";
    }

    private void begun() throws InterruptedException {
        assertThat(begun.poll(60, TimeUnit.SECONDS)).as("a handler at work").isNotNull();
    }

    private Map<String, String> contents(List<Artifact> artifacts) throws IOException {
        assertThat(artifacts).hasSize(1);
        try (InputStream content = keelson.runs().content(artifacts.get(0))) {
            return Map.of(artifacts.get(0).name(), new String(content.readAllBytes(), StandardCharsets.UTF_8));
        }
    }
}
