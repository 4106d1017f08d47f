package io.keelson.bench.scenario;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.contender.Outcome;
import io.keelson.bench.lab.ContenderProcess;
import io.keelson.bench.lab.ContenderProcess.ContenderException;
import io.keelson.bench.lab.Lab;
import io.keelson.bench.lab.Processors;
import io.keelson.bench.report.Metric;
import io.keelson.bench.report.Results;
import io.keelson.bench.report.Sample;
import java.io.IOException;
import java.util.Map;

/** What a scenario has in a contender's turn. */
public record Bench(Scenario scenario, ContenderKind kind, int round, Sizes sizes, Lab.Turn turn, Results results) {

    /** Something whose time is taken. */
    interface Measured {
        Outcome run() throws ContenderException, InterruptedException;
    }

    ContenderProcess start() throws IOException, ContenderException, InterruptedException {
        return start(Map.of());
    }

    ContenderProcess start(Map<String, String> options)
            throws IOException, ContenderException, InterruptedException {
        return turn.start(kind, options);
    }

    /** Runs per second and, where they were timed, how long a run took. */
    void rate(String variant, Metric perSecond, Measured measured) throws ContenderException, InterruptedException {
        Processors before = Processors.now();
        Outcome outcome = measured.run();
        double others = Processors.now().othersSince(before);
        record(variant, perSecond, outcome.perSecond(), others);
        if (outcome.p99Ms() > 0) {
            record(variant, Metric.P50, outcome.p50Ms(), others);
            record(variant, Metric.P99, outcome.p99Ms(), others);
        }
    }

    void record(String variant, Metric metric, double value, double others) {
        results.add(new Sample(scenario.title(), variant, kind.title(), metric, round, value, others));
    }
}
