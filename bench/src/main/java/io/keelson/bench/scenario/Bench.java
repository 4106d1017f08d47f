package io.keelson.bench.scenario;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.contender.Load;
import io.keelson.bench.contender.Work;
import io.keelson.bench.contender.WorkloadResult;
import io.keelson.bench.lab.ContenderProcess;
import io.keelson.bench.lab.ContenderProcess.ContenderException;
import io.keelson.bench.lab.Lab;
import io.keelson.bench.lab.ProcessorTime;
import io.keelson.bench.lab.Processors;
import io.keelson.bench.report.Measure;
import io.keelson.bench.report.Results;
import io.keelson.bench.report.Sample;
import java.io.IOException;
import java.util.Map;

/**
 * The context of a scenario in a contender's turn.
 *
 * @param round from 1
 */
public record Bench(Scenario scenario, ContenderKind kind, int round, Sizes sizes, Lab.Turn turn, Results results) {
    /** A warm-up is divided into pieces, after each of which the compilers' time is looked at. */
    private static final int LEAST_PIECES = 4;
    private static final int MAX_PIECES = 10;
    /** The measured time of a load divided by the time of its lead-in. */
    private static final int LEAD_IN = 8;
    /** The share of all processors that compilers may still use when a warm-up ends. */
    private static final double IDLE_COMPILERS = 0.05;

    /** Something whose time is taken. */
    interface Measured {
        WorkloadResult run() throws ContenderException, InterruptedException;
    }

    /** A measurement, and the processor time of other programs meanwhile, in percent. */
    record Watched(WorkloadResult outcome, double others) {}

    ContenderProcess start(Map<String, String> options) throws IOException, ContenderException, InterruptedException {
        return turn.start(kind, options);
    }

    Watched watch(Measured measured) throws ContenderException, InterruptedException {
        Processors before = Processors.now();
        WorkloadResult outcome = measured.run();
        return new Watched(outcome, Processors.now().othersSince(before));
    }

    /**
     * Loads a contender, with the kinds of work in turn, until the compilers of its JVMs are nearly idle: for the
     * time of {@link Sizes#warmup} at least, and two and a half times that at most.
     */
    void warm(ContenderProcess contender, int callers, Work... kinds) throws ContenderException, InterruptedException {
        warm(contender, 1, callers, kinds);
    }

    /** Warms a contender of several servers, each of which has its share of the runs only: for that many times as long. */
    void warm(ContenderProcess contender, int servers, int callers, Work... kinds)
            throws ContenderException, InterruptedException {
        double piece = servers * sizes.warmup() / LEAST_PIECES;
        for (int i = 0; i < MAX_PIECES; i++) {
            boolean warm = load(contender, kinds[i % kinds.length], callers, piece);
            if (i + 1 >= LEAST_PIECES && warm) {
                return;
            }
        }
    }

    /** Loads a contender for some seconds; returns true if the compilers of its JVMs were nearly idle. */
    private static boolean load(ContenderProcess contender, Work kind, int callers, double seconds)
            throws ContenderException, InterruptedException {
        ProcessorTime before = contender.processorTime();
        contender.load(Load.during(kind, callers, seconds));
        double compilers = contender.processorTime().since(before).compilers() / 1_000;
        return !(compilers > IDLE_COMPILERS * seconds * Runtime.getRuntime().availableProcessors());
    }

    /**
     * Records the rate of runs with this number of them in flight. A lead-in is not counted: this load for an eighth of the measured
     * time, twice if the compilers are not idle, because batches of this size execute code that the warm-up did not.
     */
    void runs(String variant, ContenderProcess contender, Work kind, int callers)
            throws ContenderException, InterruptedException {
        if (!load(contender, kind, callers, sizes.seconds() / LEAD_IN)) {
            load(contender, kind, callers, sizes.seconds() / LEAD_IN);
        }
        rate(variant, Measure.RUNS_PER_SECOND, contender,
                () -> contender.load(Load.during(kind, callers, sizes.seconds())));
    }

    /**
     * Records how many there were per second, what one took of the processors and, where they were timed, how long one
     * took.
     */
    void rate(String variant, Measure perSecond, ContenderProcess contender, Measured measured)
            throws ContenderException, InterruptedException {
        ProcessorTime before = contender.processorTime();
        Watched watched = watch(measured);
        ProcessorTime each = contender.processorTime().since(before).dividedBy(Math.max(1, watched.outcome().count()));
        record(variant, perSecond, watched.outcome().perSecond(), watched.others());
        if (watched.outcome().p99Ms() > 0) {
            latency(variant, watched);
        }
        if (perSecond.equals(Measure.RUNS_PER_SECOND)) {
            record(variant, Measure.DATABASE_MS, each.database(), Double.NaN);
            record(variant, Measure.SERVER_MS, each.servers(), Double.NaN);
            record(variant, Measure.CLIENT_MS, each.client(), Double.NaN);
            record(variant, Measure.COMPILER_MS, each.compilers(), Double.NaN);
        }
    }

    /** Records how long one took, the slowest hundredth apart. */
    void latency(String variant, Watched watched) {
        record(variant, Measure.P50, watched.outcome().p50Ms(), watched.others());
        record(variant, Measure.P99, watched.outcome().p99Ms(), watched.others());
    }

    /** @param others percent of the processors; NaN where that says nothing */
    void record(String variant, Measure metric, double value, double others) {
        results.add(new Sample(scenario.title(), variant, kind.title(), metric, round, value, others));
    }

    /** This turn, counted as another round of a scenario that has only one. */
    Bench inRound(int number) {
        return new Bench(scenario, kind, number, sizes, turn, results);
    }
}
