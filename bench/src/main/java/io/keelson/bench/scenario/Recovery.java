package io.keelson.bench.scenario;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.report.Metric;
import io.keelson.bench.server.KeelsonServer;
import io.keelson.bench.server.Poll;
import io.keelson.client.Keelson;
import io.keelson.client.Step;
import io.keelson.client.plan.Mission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** kill -9 of a node: how soon another claims what it held, and whether all runs in flight still complete. */
public final class Recovery implements Scenario {
    public static final String TITLE = "Recovery after kill -9";
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final int HELD = 16;
    private static final int CREATORS = 16;

    @Override
    public String name() {
        return "recovery";
    }

    @Override
    public String title() {
        return TITLE;
    }

    @Override
    public List<ContenderKind> contenders() {
        return List.of(ContenderKind.KEELSON_HTTP);
    }

    /** As tables show the variant. */
    public static String held(int leaseSeconds) {
        return HELD + " steps held under a lease of " + leaseSeconds + " s";
    }

    /** As tables show the variant. */
    public static String inFlight(int runs) {
        return String.format(Locale.ROOT, "%,d runs of ten steps in flight", runs);
    }

    @Override
    public void measure(Bench bench) throws Exception {
        heldWork(bench);
        runsInFlight(bench);
    }

    /** Sixteen steps that sleep, claimed by the node that dies; the other has been up before. */
    private static void heldWork(Bench bench) throws Exception {
        Map<String, String> settings = settings(bench, "KEELSON_ALLOWED_COMMANDS", "sleep");
        try (KeelsonServer dying = bench.turn().server("dying", settings)) {
            List<String> runs = create(dying.client(), HELD, Mission.named("held").goal("be held").start()
                    .task("sleep", task -> task.step("sleep", "process.run", Map.of("argv", List.of("sleep", "30")))));
            Poll.until(PATIENCE, () -> claimedAtLeast(dying.client(), runs, 1));
            try (KeelsonServer other = bench.turn().server("other", settings)) {
                Keelson client = other.client();
                dying.kill();
                long killed = System.nanoTime();
                Poll.until(PATIENCE, () -> claimedAtLeast(client, runs, 2));
                bench.record(held(bench.sizes().leaseSeconds()), Metric.CLAIMED_SECONDS,
                        (System.nanoTime() - killed) / 1e9, Double.NaN);
                runs.forEach(run -> client.runs().cancel(run, "measured"));
            }
        }
    }

    private static boolean claimedAtLeast(Keelson client, List<String> runs, int epoch) {
        return runs.stream().allMatch(run -> client.runs().steps(run).stream().map(Step::leaseEpoch)
                .allMatch(each -> each >= epoch));
    }

    /** Accepted by a node without executors, begun by one that is killed at work, ended by another. */
    private static void runsInFlight(Bench bench) throws Exception {
        int count = bench.sizes().recovered();
        try (KeelsonServer accepting = bench.turn().server("accepting", settings(bench, "KEELSON_EXECUTORS", "0"))) {
            Keelson client = accepting.client();
            List<String> runs = create(client, count, tenSteps());
            try (KeelsonServer dying = bench.turn().server("dying", settings(bench, "KEELSON_LOG_FORMAT", "text"))) {
                Poll.until(PATIENCE, () -> client.runs().get(runs.get(count / 4)).ended());
                dying.kill();
            }
            long killed = System.nanoTime();
            try (KeelsonServer other = bench.turn().server("other", settings(bench, "KEELSON_LOG_FORMAT", "text"))) {
                for (String run : runs) {
                    Poll.until(PATIENCE, () -> other.client().runs().get(run).ended());
                }
            }
            double seconds = (System.nanoTime() - killed) / 1e9;
            bench.record(inFlight(count), Metric.ALL_ENDED_SECONDS, seconds, Double.NaN);
            bench.record(inFlight(count), Metric.FAILED_RUNS, notCompleted(client, runs), Double.NaN);
        }
    }

    private static Map<String, String> settings(Bench bench, String name, String value) {
        return Map.of("KEELSON_LEASE_SECONDS", Integer.toString(bench.sizes().leaseSeconds()), name, value);
    }

    private static Mission tenSteps() {
        return Mission.named("ten").goal("survive").start().task("work", task -> {
            for (int i = 1; i <= 10; i++) {
                task.step("s" + i, "noop", Map.of());
            }
            return task;
        });
    }

    private static List<String> create(Keelson client, int count, Mission mission) throws Exception {
        try (ExecutorService creators = Executors.newFixedThreadPool(CREATORS)) {
            List<Future<String>> created = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                created.add(creators.submit((Callable<String>) () -> client.runs().create(mission).id()));
            }
            List<String> runs = new ArrayList<>();
            for (Future<String> run : created) {
                runs.add(run.get());
            }
            return runs;
        }
    }

    private static long notCompleted(Keelson client, List<String> runs) {
        return runs.stream().filter(run -> !client.runs().get(run).completed()).count();
    }
}
