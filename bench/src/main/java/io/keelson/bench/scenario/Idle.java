package io.keelson.bench.scenario;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.lab.StatementLog;
import io.keelson.bench.report.Measure;
import io.keelson.bench.server.KeelsonServer;
import io.keelson.bench.server.Poll;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The cost of an idle server, and the time until it is ready. */
public final class Idle implements Scenario {
    public static final String TITLE = "Idle";
    public static final String STARTED = "server with its embedded database";
    public static final String WATCHED = "server on a database of ours";

    @Override
    public String name() {
        return "idle";
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
        statements(bench);
        startup(bench);
    }

    /** Every statement that PostgreSQL executes for the node is in its log, BEGIN and COMMIT included. */
    private static void statements(Bench bench) throws Exception {
        StatementLog log = bench.turn().logStatements();
        try (KeelsonServer server = bench.turn().server("node", Map.of())) {
            rest(bench);
            long before = log.count();
            long start = System.nanoTime();
            rest(bench);
            double seconds = (System.nanoTime() - start) / 1e9;
            bench.record(WATCHED, Measure.STATEMENTS_PER_SECOND, (log.count() - before) / seconds, Double.NaN);
            bench.record(WATCHED, Measure.RESIDENT_MB, server.residentMegabytes(), Double.NaN);
        }
    }

    /** The first start creates the data folder; the second start is measured. */
    private static void startup(Bench bench) throws Exception {
        String node = "embedded";
        bench.turn().serverWithDatabase(node).close();
        try (KeelsonServer server = bench.turn().serverWithDatabase(node)) {
            bench.record(STARTED, Measure.READY_SECONDS, server.startup().toMillis() / 1e3, Double.NaN);
            rest(bench);
            bench.record(STARTED, Measure.RESIDENT_MB, server.residentMegabytes(), Double.NaN);
        }
    }

    private static void rest(Bench bench) throws InterruptedException {
        long end = System.nanoTime() + (long) (bench.sizes().seconds() * 1e9);
        Poll.until(Duration.ofDays(1), () -> System.nanoTime() >= end);
    }
}
