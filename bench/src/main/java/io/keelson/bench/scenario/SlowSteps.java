package io.keelson.bench.scenario;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.report.Measure;
import io.keelson.bench.server.KeelsonServer;
import io.keelson.bench.server.Poll;
import io.keelson.bench.server.SlowAnswers;
import io.keelson.client.Keelson;
import io.keelson.client.plan.Mission;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Steps that all wait for an HTTP answer at the same time on one server: how long until all have ended, against the
 * same steps that are answered at once, and their use of memory, with a small heap, and of the database's connections.
 */
public final class SlowSteps implements Scenario {
    public static final String TITLE = "Slow steps on one server";
    public static final String AT_ONCE = "answered at once";
    /** How long a slow answer takes. */
    public static final int WAIT_SECONDS = 2;
    private static final int TASKS_OF_A_RUN = 100;
    /** Without a limit the JVM lets the heap grow to a quarter of the machine's memory before a full collection. */
    private static final String HEAP = "-Xmx256m";
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    @Override
    public String name() {
        return "slow-steps";
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
    public boolean hasOneTurn() {
        return true;
    }

    /** As tables show the variant of that many slow steps. */
    public static String slow(int steps) {
        return String.format(Locale.ROOT, "%,d steps, each answered after %d s", steps, WAIT_SECONDS);
    }

    @Override
    public void measure(Bench bench) throws Exception {
        int steps = bench.sizes().recovered();
        int runs = Math.max(1, steps / TASKS_OF_A_RUN);
        try (SlowAnswers model = new SlowAnswers();
                KeelsonServer server = bench.turn().server("node", Map.of("KEELSON_WAITING_SLOTS",
                        Integer.toString(runs * TASKS_OF_A_RUN), "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true",
                        "KEELSON_JAVA_OPTS", HEAP))) {
            Keelson client = server.client();
            Mission quick = asking(model.url(0));
            long end = System.nanoTime() + (long) (bench.sizes().warmup() * 1e9);
            do {
                seconds(client, quick, runs);
            } while (System.nanoTime() < end);
            bench.record(AT_ONCE, Measure.ALL_ENDED_SECONDS, seconds(client, quick, runs), Double.NaN);
            Mission slow = asking(model.url((int) Duration.ofSeconds(WAIT_SECONDS).toMillis()));
            try (Connection connection = bench.turn().url().connect();
                    ExecutorService one = Executors.newSingleThreadExecutor()) {
                Future<Double> time = one.submit(() -> seconds(client, slow, runs));
                int most = 0;
                while (!time.isDone()) {
                    most = Math.max(most, others(connection));
                    long soon = System.nanoTime() + 50_000_000;
                    Poll.until(TIMEOUT, () -> System.nanoTime() >= soon);
                }
                String variant = slow(steps);
                bench.record(variant, Measure.ALL_ENDED_SECONDS, time.get(), Double.NaN);
                bench.record(variant, Measure.RESIDENT_MB, server.peakMegabytes(), Double.NaN);
                bench.record(variant, Measure.CONNECTIONS, most, Double.NaN);
            }
        }
    }

    private static Mission asking(String url) {
        Mission mission = Mission.named("slow").start();
        for (int i = 0; i < TASKS_OF_A_RUN; i++) {
            mission.task("t" + i, task -> task.step("ask", "http.request", Map.of("url", url)));
        }
        return mission;
    }

    /** From the submission of the first run to the end of the last. */
    private static double seconds(Keelson client, Mission mission, int runs) throws Exception {
        long start = System.nanoTime();
        List<Callable<Boolean>> calls = new ArrayList<>();
        for (int i = 0; i < runs; i++) {
            calls.add(() -> client.runs().awaitEnd(client.runs().create(mission).id(), TIMEOUT).ended());
        }
        try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<Boolean> ended : callers.invokeAll(calls)) {
                if (!ended.get()) {
                    throw new IllegalStateException("a run has not ended in " + TIMEOUT);
                }
            }
        }
        return (System.nanoTime() - start) / 1e9;
    }

    /** Connections of others to the database. */
    static int others(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery("""
                        select count(*) from pg_stat_activity
                         where datname = current_database() and pid <> pg_backend_pid()""")) {
            row.next();
            return row.getInt(1);
        }
    }
}
