package io.keelson.bench.scenario;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.contender.WorkloadResult;
import io.keelson.bench.lab.Processors;
import io.keelson.bench.report.Measure;
import io.keelson.bench.server.KeelsonServer;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.client.worker.Effects;
import io.keelson.client.worker.Gateway;
import io.keelson.client.worker.ToolSpec;
import io.keelson.client.worker.Worker;
import io.keelson.devmodel.DevModel;
import io.keelson.devmodel.Journal;
import io.keelson.devmodel.Script;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/**
 * Requests of programs to a model through the gateway, which holds, records and charges each, against equal requests at the provider: how
 * many per second, how many transactions each takes, and how long until the first byte and until the end of an answer. Each request is
 * new. Answers come at once, which shows the most requests that one run may have, or after a second, as models answer. All requests are
 * of one run, or each request in flight is of a run of its own. The most requests in flight come first, so that a single one meets JVMs
 * with compiled code.
 */
public final class GatewayRequests implements Scenario {
    private static final String TOOL = "bench.program";
    private static final Duration TIMEOUT = Duration.ofMinutes(1);
    private static final int OK = 200;
    /** Requests in flight at the most. */
    private static final int MAX_IN_FLIGHT = 64;
    private static final String SCRIPT =
            "{\"rules\": [{\"when\": {\"model\": \"slow\"}, \"answer\": {\"text\": \"one two three\", \"delay_ms\": 1000}},"
                    + " {\"answer\": {\"text\": \"one two three four five six seven eight\"}}]}";
    private static final String MODEL =
            """
              %s: {wire: openai-chat, base_url: "http://127.0.0.1:%d/v1", model: %s, family: dev,
                  context_tokens: 100000, max_output_tokens: 500, prices: {input: 1, output: 1}}
            """;
    private static final String MISSION = """
            {"name": "program", "start": true, "plan": {"tasks": [{"id": "t", "title": "Work",
             "steps": [{"name": "s", "tool": "%s"}]}]}}""".formatted(TOOL);

    private final AtomicLong sent = new AtomicLong();

    @Override
    public String name() {
        return "gateway";
    }

    @Override
    public String title() {
        return "Requests of programs through the gateway";
    }

    @Override
    public List<ContenderKind> contenders() {
        return List.of(ContenderKind.KEELSON_HTTP);
    }

    @Override
    public boolean hasOneTurn() {
        return true;
    }

    /** How an answer comes, and when requests begin. */
    private enum Answers {
        WHOLE("quick", false, false, ""), STREAMED("quick", true, false, ", streamed"),
        /** All requests begin at the same time, again and again. */
        STREAMED_AFTER_A_SECOND("slow", true, false, ", streamed after 1 s"),
        /** Requests begin at equal intervals within the second. */
        SPREAD("slow", true, true, ", streamed after 1 s, spread");

        private final String model;
        private final boolean streamed;
        private final boolean spread;
        private final String variant;

        Answers(String model, boolean streamed, boolean spread, String variant) {
            this.model = model;
            this.streamed = streamed;
            this.spread = spread;
            this.variant = variant;
        }

        boolean afterASecond() {
            return model.equals("slow");
        }
    }

    /**
     * An address for requests of OpenAI's API.
     *
     * @param keys each caller has one of them
     */
    private record Address(String name, String url, List<String> keys) {}

    private record Timed(WorkloadResult firstByte, WorkloadResult whole) {}

    @Override
    public void measure(Bench bench) throws Exception {
        Path folder = Files.createTempDirectory("gateway");
        BlockingQueue<Gateway> programs = new SynchronousQueue<>();
        Semaphore ended = new Semaphore(0);
        Clock clock = Clock.systemUTC();
        try (DevModel model = new DevModel(new InetSocketAddress("127.0.0.1", 0), new Script(Json.read(SCRIPT)),
                new Journal(clock, null), clock);
                KeelsonServer server = bench.turn().server("node", Map.of("KEELSON_MODELS",
                        models(folder, model.port()).toString()));
                Worker worker = Worker.builder(server.client())
                        .tool(new ToolSpec(TOOL, "Requests models", Map.of(), Effects.READ).withGateway(), step -> {
                            programs.put(Objects.requireNonNull(step.gateway()));
                            ended.acquire();
                            return Map.of();
                        }).slots(MAX_IN_FLIGHT).build();
                HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
            worker.start();
            Address provider =
                    new Address("at the provider", "http://127.0.0.1:" + model.port() + "/v1", List.of("none"));
            for (Answers answers : Answers.values()) {
                for (int callers : IntStream.of(MAX_IN_FLIGHT, 8, 1).map(bench.sizes()::callers).distinct()
                        .filter(most -> most > 1 || !answers.spread).toArray()) {
                    measure(bench, http, provider, answers, callers);
                    measure(bench, http, programs(server.client(), programs, 1), answers, callers);
                    ended.release();
                    if (answers.afterASecond() && callers > 1) {
                        measure(bench, http, programs(server.client(), programs, callers), answers, callers);
                        ended.release(callers);
                    }
                }
            }
        }
    }

    /** Starts runs whose steps have no records. */
    private static Address programs(Keelson client, BlockingQueue<Gateway> programs, int runs)
            throws InterruptedException {
        List<String> tokens = new ArrayList<>();
        String url = "";
        for (int i = 0; i < runs; i++) {
            client.runs().create(RunRequest.of(Json.read(MISSION)));
            Gateway gateway = Objects.requireNonNull(programs.poll(TIMEOUT.toSeconds(), TimeUnit.SECONDS),
                    "no step was claimed");
            tokens.add(gateway.token());
            url = gateway.openai();
        }
        return new Address(runs == 1 ? "through the gateway" : "through the gateway, a run each", url, tokens);
    }

    private static Path models(Path folder, int port) throws IOException {
        return Files.writeString(folder.resolve("models.yaml"), "models:\n" + MODEL.formatted("quick", port, "quick")
                + MODEL.formatted("slow", port, "slow"));
    }

    private void measure(Bench bench, HttpClient http, Address address, Answers answers, int callers)
            throws Exception {
        load(http, address, answers, callers, bench.sizes().warmup());
        Processors before = Processors.now();
        long first = transactions(bench);
        Timed timed = load(http, address, answers, callers, bench.sizes().seconds());
        long written = transactions(bench) - first;
        double others = Processors.now().othersSince(before);
        String variant = address.name + answers.variant + ", " + TenSteps.inFlight(callers);
        bench.record(variant, Measure.REQUESTS_PER_SECOND, timed.whole.perSecond(), others);
        bench.record(variant, Measure.FIRST_BYTE_P50, timed.firstByte.p50Ms(), others);
        bench.record(variant, Measure.P50, timed.whole.p50Ms(), others);
        bench.record(variant, Measure.P99, timed.whole.p99Ms(), others);
        bench.record(variant, Measure.TRANSACTIONS, (double) written / timed.whole.count(), others);
    }

    /** The number of transactions that have written, so far. */
    private static long transactions(Bench bench) throws SQLException {
        try (Connection connection = bench.turn().url().connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement
                        .executeQuery("select pg_snapshot_xmax(pg_current_snapshot())::text::bigint")) {
            row.next();
            return row.getLong(1);
        }
    }

    private Timed load(HttpClient http, Address address, Answers answers, int callers, double seconds)
            throws Exception {
        long start = System.nanoTime();
        long deadline = start + (long) (seconds * 1e9);
        List<Callable<List<long[]>>> loops = new ArrayList<>();
        for (int i = 0; i < callers; i++) {
            String key = address.keys.get(i % address.keys.size());
            long wait = answers.spread ? TimeUnit.SECONDS.toNanos(i) / callers : 0;
            loops.add(() -> {
                TimeUnit.NANOSECONDS.sleep(wait);
                List<long[]> times = new ArrayList<>();
                do {
                    times.add(request(http, address.url, key, answers));
                } while (System.nanoTime() < deadline);
                return times;
            });
        }
        List<long[]> all = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<List<long[]>> each : threads.invokeAll(loops)) {
                all.addAll(each.get());
            }
        }
        long nanos = System.nanoTime() - start;
        return new Timed(result(all, 0, nanos), result(all, 1, nanos));
    }

    private static WorkloadResult result(List<long[]> times, int which, long nanos) {
        return WorkloadResult.of(times.size(), nanos, times.stream().mapToLong(each -> each[which]).toArray());
    }

    /** Nanoseconds until the first byte, and until the end. */
    private long[] request(HttpClient http, String url, String key, Answers answers)
            throws IOException, InterruptedException {
        String body =
                "{\"model\": \"" + answers.model + "\", \"stream\": " + answers.streamed
                        + ", \"messages\": [{\"role\": \"user\", \"content\": "
                        + "\"request " + sent.incrementAndGet() + "\"}]}";
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/chat/completions")).timeout(TIMEOUT)
                .header("Authorization", "Bearer " + key).header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body)).build();
        long start = System.nanoTime();
        HttpResponse<InputStream> answer = http.send(request, BodyHandlers.ofInputStream());
        try (InputStream in = answer.body()) {
            int first = in.read();
            long firstAt = System.nanoTime();
            byte[] rest = in.readAllBytes();
            if (answer.statusCode() != OK || first < 0) {
                throw new IllegalStateException("status " + answer.statusCode() + ": "
                        + new String(rest, StandardCharsets.UTF_8));
            }
            return new long[] {firstAt - start, System.nanoTime() - start};
        }
    }
}
