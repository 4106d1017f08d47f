package io.keelson.bench.scenario;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.report.Measure;
import io.keelson.bench.server.KeelsonServer;
import io.keelson.bench.server.Poll;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.devmodel.DevModel;
import io.keelson.devmodel.Journal;
import io.keelson.devmodel.Script;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;

/**
 * Turns of agents that all wait for a model at the same time on one server: how long until all have ended, against the
 * same turns that are answered at once, and their use of memory, threads and the database's connections.
 */
public final class TurnsInFlight implements Scenario {
    /** How long a slow answer takes. */
    public static final int WAIT_SECONDS = 5;
    private static final int MAX = 1_000;
    private static final int TASKS_OF_A_RUN = 100;
    private static final String HEAP = "-Xmx256m";
    private static final Duration TIMEOUT = Duration.ofMinutes(3);
    private static final String QUICK = "quick";
    private static final String SLOW = "slow";

    @Override
    public String name() {
        return "turns-in-flight";
    }

    @Override
    public String title() {
        return "Turns in flight on one server";
    }

    @Override
    public List<ContenderKind> contenders() {
        return List.of(ContenderKind.KEELSON_HTTP);
    }

    @Override
    public boolean hasOneTurn() {
        return true;
    }

    @Override
    public void measure(Bench bench) throws Exception {
        int runs = Math.max(1, Math.min(MAX, bench.sizes().recovered()) / TASKS_OF_A_RUN);
        Path folder = Files.createTempDirectory("turns-in-flight");
        try (DevModel model = provider();
                KeelsonServer server =
                        bench.turn().server("node", Map.of("KEELSON_MODELS", models(folder, model).toString(),
                                "KEELSON_MODEL_CALLS", Integer.toString(MAX), "KEELSON_JAVA_OPTS", HEAP))) {
            Keelson client = server.client();
            long end = System.nanoTime() + (long) (bench.sizes().warmup() * 1e9);
            do {
                seconds(client, QUICK, runs);
            } while (System.nanoTime() < end);
            bench.record("answered at once", Measure.ALL_ENDED_SECONDS, seconds(client, QUICK, runs), Double.NaN);
            try (Connection connection = bench.turn().url().connect();
                    ExecutorService one = Executors.newSingleThreadExecutor()) {
                Future<Double> time = one.submit(() -> seconds(client, SLOW, runs));
                int connections = 0;
                double threads = 0;
                while (!time.isDone()) {
                    connections = Math.max(connections, SlowSteps.others(connection));
                    threads = Math.max(threads, server.threads());
                    long soon = System.nanoTime() + 50_000_000;
                    Poll.until(TIMEOUT, () -> System.nanoTime() >= soon);
                }
                String variant = String.format(Locale.ROOT, "%,d turns, each answered after %d s",
                        runs * TASKS_OF_A_RUN, WAIT_SECONDS);
                bench.record(variant, Measure.ALL_ENDED_SECONDS, time.get(), Double.NaN);
                bench.record(variant, Measure.RESIDENT_MB, server.peakMegabytes(), Double.NaN);
                bench.record(variant, Measure.THREADS, threads, Double.NaN);
                bench.record(variant, Measure.CONNECTIONS, connections, Double.NaN);
            }
        }
    }

    /** A provider in this JVM: its model {@code slow} takes its time, any other answers at once. */
    private static DevModel provider() throws IOException {
        JsonNode script = Json.read("""
                {"rules": [{"when": {"model": "slow"}, "answer": {"text": "done", "delay_ms": %d}},
                 {"answer": {"text": "done"}}]}""".formatted(Duration.ofSeconds(WAIT_SECONDS).toMillis()));
        Clock clock = Clock.systemUTC();
        return new DevModel(new InetSocketAddress("127.0.0.1", 0), new Script(script), new Journal(clock, null), clock);
    }

    /** The file that names the two models of the provider. */
    private static Path models(Path folder, DevModel model) throws IOException {
        return Files.writeString(folder.resolve("models.yaml"), "models:\n" + List.of(QUICK, SLOW).stream()
                .map(name -> """
                          %1$s: {wire: openai-responses, base_url: "http://127.0.0.1:%2$d/v1", model: %1$s, family: dev,
                              context_tokens: 100000, max_output_tokens: 500, prices: {input: 1, output: 1}}
                        """.formatted(name, model.port()))
                .collect(Collectors.joining()));
    }

    /** A run of as many agentic tasks, each done by one turn. */
    private static JsonNode mission(String model) {
        String tasks = IntStream.range(0, TASKS_OF_A_RUN).mapToObj(i -> """
                {"id": "t%d", "title": "Answer", "suggested_agent":
                 {"type": "contractor", "agent_name": "agent", "model": "%s", "tools": []}}""".formatted(i, model))
                .collect(Collectors.joining(","));
        return Json
                .read("""
                {"name": "turns", "start": true, "config": {"limits": {"tasks_per_agent": %d}}, "plan": {"tasks": [%s]}}"""
                        .formatted(TASKS_OF_A_RUN, tasks));
    }

    /** From the submission of the first run to the end of the last. */
    private static double seconds(Keelson client, String model, int runs) throws Exception {
        JsonNode mission = mission(model);
        long start = System.nanoTime();
        List<Callable<Boolean>> calls = new ArrayList<>();
        for (int i = 0; i < runs; i++) {
            calls.add(() -> client.runs().awaitEnd(client.runs().create(RunRequest.of(mission)).id(), TIMEOUT)
                    .completed());
        }
        try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<Boolean> ended : callers.invokeAll(calls)) {
                if (!ended.get()) {
                    throw new IllegalStateException("a run has not completed");
                }
            }
        }
        return (System.nanoTime() - start) / 1e9;
    }
}
