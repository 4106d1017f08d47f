package io.keelson.bench.scenario;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.contender.Outcome;
import io.keelson.bench.server.KeelsonServer;
import io.keelson.client.ApiKey;
import io.keelson.client.ApiKeyRequest;
import io.keelson.client.Keelson;
import io.keelson.client.plan.Mission;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One workspace submits a run a second; how long it takes alone, while another one submits a flood, and while that waits for
 * the same slots.
 */
public final class TwoTenants implements Scenario {
    public static final String TITLE = "A quiet workspace";
    public static final String ALONE = "alone";
    public static final String SUBMITTED = "while another submits its flood";
    public static final String FLOODED = "beside another's flood";
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final int FLOODING = 16;
    private static final int SAMPLES_PER_SECOND_MEASURED = 6;
    private static final int FEWEST = 3;
    private static final BigDecimal CREDITS = new BigDecimal(1_000_000);

    @Override
    public String name() {
        return "two-tenants";
    }

    @Override
    public String title() {
        return TITLE;
    }

    @Override
    public List<ContenderKind> contenders() {
        return List.of(ContenderKind.KEELSON_HTTP);
    }

    @Override
    public void measure(Bench bench) throws Exception {
        int samples = Math.max(FEWEST, (int) (bench.sizes().seconds() * SAMPLES_PER_SECOND_MEASURED));
        try (KeelsonServer server = bench.turn().server("node",
                Map.of("KEELSON_EXECUTORS", "16", "KEELSON_ALLOWED_COMMANDS", "sleep"))) {
            Keelson quiet = tenant(server.client(), "quiet");
            Keelson flood = tenant(server.client(), "flood");
            oneASecond(quiet, FEWEST);
            bench.latency(ALONE, bench.watch(() -> oneASecond(quiet, samples)));
            try (ExecutorService flooding = Executors.newSingleThreadExecutor()) {
                Future<?> submitted = flooding.submit(() -> {
                    submit(flood, bench.sizes().recovered());
                    return null;
                });
                bench.latency(SUBMITTED, bench.watch(() -> oneASecond(quiet, samples, () -> !submitted.isDone())));
                submitted.get();
            }
            bench.latency(FLOODED, bench.watch(() -> oneASecond(quiet, samples)));
        }
    }

    private static Keelson tenant(Keelson operator, String name) {
        String workspace = operator.workspaces().create(name, Map.of()).id();
        ApiKey key = operator.apiKeys().create(workspace, new ApiKeyRequest("bench", null, null,
                List.of("runs:read", "runs:write", "credits:grant"), null));
        Keelson tenant = Keelson.builder().url(operator.url().toString()).apiKey(key.key()).build();
        tenant.credits().grant(CREDITS, "to be measured");
        return tenant;
    }

    /** A step that takes a slot for a fifth of a second and no processor. */
    private static Mission mission() {
        return Mission.named("work").start()
                .task("work", task -> task.step("work", "process.run", Map.of("argv", List.of("sleep", "0.2"))));
    }

    private static Outcome oneASecond(Keelson client, int count) throws InterruptedException {
        return oneASecond(client, count, () -> true);
    }

    /** @param still asked before each run but the first few; no further one is begun once it says no */
    private static Outcome oneASecond(Keelson client, int most, BooleanSupplier still)
            throws InterruptedException {
        long start = System.nanoTime();
        List<Long> latencies = new ArrayList<>();
        try (ScheduledExecutorService clock = Executors.newScheduledThreadPool(most)) {
            List<Future<@Nullable Long>> runs = new ArrayList<>();
            for (int i = 0; i < most; i++) {
                boolean always = i < FEWEST;
                runs.add(clock.schedule(() -> always || still.getAsBoolean() ? latency(client) : null, i,
                        TimeUnit.SECONDS));
            }
            for (Future<@Nullable Long> run : runs) {
                Long latency = run.get(PATIENCE.toSeconds() + most, TimeUnit.SECONDS);
                if (latency == null) {
                    clock.shutdownNow();
                    break;
                }
                latencies.add(latency);
            }
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("runs of the quiet workspace did not end", e);
        }
        return Outcome.of(latencies.size(), System.nanoTime() - start,
                latencies.stream().mapToLong(Long::longValue).toArray());
    }

    private static @Nullable Long latency(Keelson client) {
        long before = System.nanoTime();
        client.runs().awaitEnd(client.runs().create(mission()).id(), PATIENCE);
        return System.nanoTime() - before;
    }

    private static void submit(Keelson client, int count) throws Exception {
        try (ExecutorService creators = Executors.newFixedThreadPool(FLOODING)) {
            List<Callable<String>> calls = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                calls.add(() -> client.runs().create(mission()).id());
            }
            for (Future<String> made : creators.invokeAll(calls)) {
                made.get();
            }
        }
    }
}
