package io.keelson.bench.scenario;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.contender.WorkloadResult;
import io.keelson.bench.lab.ContenderProcess;
import io.keelson.bench.lab.ContenderProcess.ContenderException;
import io.keelson.bench.lab.Lab;
import io.keelson.bench.lab.Processors;
import io.keelson.bench.report.Measure;
import io.keelson.bench.report.Results;
import io.keelson.bench.report.Sample;
import java.io.IOException;
import java.util.Map;

/**
 * What a scenario has in a contender's turn.
 *
 * @param round from 1
 */
public record Bench(Scenario scenario, ContenderKind kind, int round, Sizes sizes, Lab.Turn turn, Results results) {

    /** Something whose time is taken. */
    interface Measured {
        WorkloadResult run() throws ContenderException, InterruptedException;
    }

    /** What was measured, and what others used of the processors meanwhile, in percent. */
    record Watched(WorkloadResult outcome, double others) {}

    ContenderProcess start(Map<String, String> options)
            throws IOException, ContenderException, InterruptedException {
        return turn.start(kind, options);
    }

    Watched watch(Measured measured) throws ContenderException, InterruptedException {
        Processors before = Processors.now();
        WorkloadResult outcome = measured.run();
        return new Watched(outcome, Processors.now().othersSince(before));
    }

    /** Records how many there were per second and, where they were timed, how long one took. */
    void rate(String variant, Measure perSecond, Measured measured) throws ContenderException, InterruptedException {
        Watched watched = watch(measured);
        record(variant, perSecond, watched.outcome().perSecond(), watched.others());
        if (watched.outcome().p99Ms() > 0) {
            latency(variant, watched);
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

    /** The same turn, counted as another round of a scenario that has only one. */
    Bench inRound(int number) {
        return new Bench(scenario, kind, number, sizes, turn, results);
    }
}
