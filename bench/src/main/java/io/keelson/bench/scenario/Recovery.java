package io.keelson.bench.scenario;

import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.report.Measure;
import io.keelson.bench.server.KeelsonServer;
import io.keelson.bench.server.Poll;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import io.keelson.client.RunQuery;
import io.keelson.client.plan.Mission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * kill -9 of a node: whether all runs in flight still complete, and how soon another node claims its steps. One node
 * that executes nothing accepts the runs; one is killed at work; another ends the runs and is killed while it holds
 * steps.
 */
public final class Recovery implements Scenario {
    public static final String TITLE = "Recovery after kill -9";
    private static final Duration TIMEOUT = Duration.ofMinutes(10);
    private static final int READS_BEFORE = 20;
    private static final int HELD = 16;
    /** Types of state that a run is in before it has ended. */
    private static final List<String> OPEN = List.of("pending", "running", "paused");
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
        int count = bench.sizes().recovered();
        try (KeelsonServer accepting = server(bench, "accepting", Map.of("KEELSON_EXECUTOR_SLOTS", "0"))) {
            Keelson client = accepting.client();
            List<String> runs = create(client, count, tenSteps());
            try (KeelsonServer dying = server(bench, "dying", Map.of())) {
                Poll.until(TIMEOUT, () -> client.runs().get(runs.get(count / 4)).ended());
                dying.kill();
            }
            long killed = System.nanoTime();
            try (KeelsonServer other = server(bench, "other", Map.of())) {
                Poll.until(TIMEOUT, () -> OPEN.stream().allMatch(type -> none(client, type)));
                bench.record(inFlight(count), Measure.ALL_ENDED_SECONDS, (System.nanoTime() - killed) / 1e9,
                        Double.NaN);
                bench.record(inFlight(count), Measure.FAILED_RUNS, count - completed(client), Double.NaN);
                heldWork(bench, other);
            }
        }
    }

    private static boolean none(Keelson client, String stateType) {
        return client.runs().list(RunQuery.all().stateType(stateType).limit(1)).items().isEmpty();
    }

    private static long completed(Keelson client) {
        long count = 0;
        RunQuery query = RunQuery.all().state("completed");
        Page<Run> page = client.runs().list(query);
        while (page.nextCursor() != null) {
            count += page.items().size();
            page = client.runs().list(query.from(page.nextCursor()));
        }
        return count + page.items().size();
    }

    /**
     * Steps that sleep, claimed by the node that dies before there is any other to claim them. The other has answered the
     * question that is measured with some times before: a node that has just started takes a second for the first answers.
     */
    private static void heldWork(Bench bench, KeelsonServer dying) throws Exception {
        List<String> runs = create(dying.client(), HELD, Mission.named("held").goal("be held").start()
                .task("sleep", task -> task.step("sleep", "process.run", Map.of("argv", List.of("sleep", "30")))));
        Poll.until(TIMEOUT, () -> claimedAtLeast(dying.client(), runs, 1));
        try (KeelsonServer last = server(bench, "last", Map.of())) {
            Keelson client = last.client();
            for (int asked = 0; asked < READS_BEFORE; asked++) {
                claimedAtLeast(client, runs, 1);
            }
            dying.kill();
            long killed = System.nanoTime();
            Poll.until(TIMEOUT, () -> claimedAtLeast(client, runs, 2));
            bench.record(held(bench.sizes().leaseSeconds()), Measure.CLAIMED_SECONDS,
                    (System.nanoTime() - killed) / 1e9, Double.NaN);
            runs.forEach(run -> client.runs().cancel(run, "measured"));
        }
    }

    private static boolean claimedAtLeast(Keelson client, List<String> runs, int epoch) {
        return runs.stream().allMatch(run -> client.runs().steps(run).stream().map(Step::leaseEpoch)
                .allMatch(each -> each >= epoch));
    }

    private static KeelsonServer server(Bench bench, String node, Map<String, String> more) throws Exception {
        Map<String, String> settings = new HashMap<>(more);
        settings.put("KEELSON_LEASE_SECONDS", Integer.toString(bench.sizes().leaseSeconds()));
        settings.put("KEELSON_ALLOWED_PROGRAMS", "sleep");
        settings.put("KEELSON_ALLOWED_FOLDERS", System.getProperty("java.io.tmpdir"));
        return bench.turn().server(node, settings);
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
}
