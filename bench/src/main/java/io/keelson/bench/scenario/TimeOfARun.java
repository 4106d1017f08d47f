package io.keelson.bench.scenario;

import io.keelson.bench.contender.Load;
import io.keelson.bench.contender.Work;
import io.keelson.bench.contender.WorkloadResult;
import io.keelson.bench.lab.ContenderProcess;
import io.keelson.bench.lab.ProcessorTime;
import io.keelson.bench.lab.TransactionSamples;
import io.keelson.bench.report.Measure;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * Where the time of a run of ten chained steps goes, alone and with many in flight: the processors of database and client, the kernel,
 * the log, and the activity of open transactions. {@code docs/internals/time-of-a-run.md} explains the figures.
 */
final class TimeOfARun implements Scenario {
    private static final int WARMING_CALLERS = 32;
    private static final double KILO = 1024;

    @Override
    public String name() {
        return "time-of-a-run";
    }

    @Override
    public String title() {
        return "Time of a run of ten steps";
    }

    @Override
    public boolean hasOneTurn() {
        return true;
    }

    @Override
    public void measure(Bench bench) throws Exception {
        List<Integer> inFlight = bench.sizes().inFlight();
        try (ContenderProcess contender = bench.start(Map.of())) {
            bench.warm(contender, bench.sizes().callers(WARMING_CALLERS), Work.TEN_STEPS);
            for (int callers : List.of(Collections.min(inFlight), Collections.max(inFlight))) {
                for (int round = 1; round <= bench.sizes().rounds(); round++) {
                    measure(bench.inRound(round), contender, callers);
                }
            }
        }
    }

    private static void measure(Bench bench, ContenderProcess contender, int callers) throws Exception {
        String variant = TenSteps.inFlight(callers);
        ProcessorTime before = contender.processorTime();
        try (Connection connection = bench.turn().url().connect();
                TransactionSamples samples = new TransactionSamples(bench.turn().url())) {
            double log = logBytes(connection);
            Bench.Watched watched =
                    bench.watch(() -> contender.load(Load.during(Work.TEN_STEPS, callers, bench.sizes().seconds())));
            TransactionSamples.Shares shares = samples.shares();
            WorkloadResult load = watched.outcome();
            double runs = Math.max(1, load.count());
            ProcessorTime each = contender.processorTime().since(before).dividedBy(runs);
            double others = watched.others();
            bench.record(variant, Measure.RUNS_PER_SECOND, load.perSecond(), others);
            bench.record(variant, Measure.DATABASE_MS, each.database(), others);
            bench.record(variant, Measure.DATABASE_KERNEL_MS, each.databaseKernel(), others);
            bench.record(variant, Measure.CLIENT_MS, each.client(), others);
            bench.record(variant, Measure.CLIENT_KERNEL_MS, each.clientKernel(), others);
            bench.record(variant, Measure.COMPILER_MS, each.compilers(), others);
            bench.record(variant, Measure.LOG_KB, (logBytes(connection) - log) / KILO / runs, others);
            bench.record(variant, Measure.LOG_WAIT, shares.log(), others);
            bench.record(variant, Measure.PROCESSOR, shares.processor(), others);
            bench.record(variant, Measure.MESSAGE_WAIT, shares.message(), others);
            bench.record(variant, Measure.OTHER_WAIT, shares.other(), others);
        }
    }

    private static double logBytes(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')")) {
            row.next();
            return row.getDouble(1);
        }
    }
}
