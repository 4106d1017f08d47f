package io.keelson.bench.scenario;

import io.keelson.api.run.Run;
import io.keelson.api.tenant.ApiKey;
import io.keelson.api.tenant.NewApiKey;
import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.contender.WorkloadResult;
import io.keelson.bench.server.KeelsonServer;
import io.keelson.bench.server.SlowAnswers;
import io.keelson.client.Keelson;
import io.keelson.client.plan.Mission;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
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
 * Workspaces of which each submits a run a second: how long one takes while they have the server to themselves, while
 * another one submits a flood, and while that waits for the same slots. There are several so that a hundredth of their runs
 * is more than the slowest one.
 */
public final class TwoTenants implements Scenario {
    public static final String TITLE = "A quiet workspace";
    public static final String ALONE = "alone";
    public static final String SUBMITTED = "while another submits its flood";
    public static final String FLOODED = "beside another's flood";
    private static final Duration TIMEOUT = Duration.ofMinutes(10);
    private static final int FLOODING = 16;
    private static final int QUIET = 4;
    private static final int SAMPLES_PER_SECOND_MEASURED = 2 * QUIET;
    private static final int FEWEST = QUIET;
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
        try (SlowAnswers model = new SlowAnswers(); KeelsonServer server = bench.turn().server("node",
                Map.of("KEELSON_WAITING_SLOTS", "16", "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true"))) {
            Mission mission = asking(model.url(200));
            List<Keelson> quiet = new ArrayList<>();
            for (int i = 1; i <= QUIET; i++) {
                quiet.add(tenant(server.client(), "quiet " + i));
            }
            Keelson flood = tenant(server.client(), "flood");
            warmUp(tenant(server.client(), "earlier"), asking(model.url(0)), bench.sizes().warmup());
            oneASecond(quiet, mission, FEWEST);
            bench.latency(ALONE, bench.watch(() -> oneASecond(quiet, mission, samples)));
            try (ExecutorService flooding = Executors.newSingleThreadExecutor()) {
                Future<?> submitted = flooding.submit(() -> {
                    submit(flood, mission, bench.sizes().recovered());
                    return null;
                });
                bench.latency(SUBMITTED,
                        bench.watch(() -> oneASecond(quiet, mission, samples, () -> !submitted.isDone())));
                submitted.get();
            }
            bench.latency(FLOODED, bench.watch(() -> oneASecond(quiet, mission, samples)));
        }
    }

    private static Keelson tenant(Keelson operator, String name) {
        String workspace = operator.workspaces().create(name, Map.of()).id();
        ApiKey key = operator.apiKeys().create(workspace, new NewApiKey("bench", null, null,
                List.of("runs:read", "runs:write", "credits:grant"), null));
        Keelson tenant = Keelson.builder().url(operator.url().toString()).apiKey(key.key()).build();
        tenant.credits().grant(CREDITS, "to be measured");
        return tenant;
    }

    /** A step that holds a slot until it is answered, and the processors hardly at all. */
    private static Mission asking(String url) {
        return Mission.named("work").start()
                .task("work", task -> task.step("work", "http.request", Map.of("url", url)));
    }

    /** As many callers as the flood has let runs of no duration be done one after the other. */
    private static void warmUp(Keelson client, Mission mission, double seconds) throws Exception {
        long end = System.nanoTime() + (long) (seconds * TimeUnit.SECONDS.toNanos(1));
        call(Collections.<Callable<@Nullable Void>>nCopies(FLOODING, () -> {
            while (System.nanoTime() < end) {
                client.runs().awaitEnd(client.runs().create(mission).id(), TIMEOUT);
            }
            return null;
        }));
    }

    private static WorkloadResult oneASecond(List<Keelson> clients, Mission mission, int count)
            throws InterruptedException {
        return oneASecond(clients, mission, count, () -> true);
    }

    /** @param still asked before each run but the first few; no further one is begun once it says no */
    private static WorkloadResult oneASecond(List<Keelson> clients, Mission mission, int most, BooleanSupplier still)
            throws InterruptedException {
        long start = System.nanoTime();
        List<Long> latencies = new ArrayList<>();
        try (ScheduledExecutorService clock = Executors.newScheduledThreadPool(most)) {
            List<Future<@Nullable Long>> runs = new ArrayList<>();
            for (int i = 0; i < most; i++) {
                boolean always = i < FEWEST;
                Keelson client = clients.get(i % clients.size());
                runs.add(clock.schedule(() -> always || still.getAsBoolean() ? latency(client, mission) : null,
                        i * 1_000L / clients.size(), TimeUnit.MILLISECONDS));
            }
            for (Future<@Nullable Long> run : runs) {
                Long latency = run.get(TIMEOUT.toSeconds() + most, TimeUnit.SECONDS);
                if (latency == null) {
                    clock.shutdownNow();
                    break;
                }
                latencies.add(latency);
            }
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("runs of the quiet workspace did not end", e);
        }
        return WorkloadResult.of(latencies.size(), System.nanoTime() - start,
                latencies.stream().mapToLong(Long::longValue).toArray());
    }

    private static @Nullable Long latency(Keelson client, Mission mission) {
        long before = System.nanoTime();
        client.runs().awaitEnd(client.runs().create(mission).id(), TIMEOUT);
        return System.nanoTime() - before;
    }

    private static void submit(Keelson client, Mission mission, int count) throws Exception {
        call(Collections.<Callable<Run>>nCopies(count, () -> client.runs().create(mission)));
    }

    private static <T extends @Nullable Object> void call(List<Callable<T>> calls) throws Exception {
        try (ExecutorService callers = Executors.newFixedThreadPool(FLOODING)) {
            for (Future<T> called : callers.invokeAll(calls)) {
                called.get();
            }
        }
    }
}
