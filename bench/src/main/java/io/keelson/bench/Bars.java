package io.keelson.bench;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.report.Bar;
import io.keelson.bench.report.Measure;
import io.keelson.bench.report.Results;
import io.keelson.bench.scenario.BigRun;
import io.keelson.bench.scenario.DeepQueue;
import io.keelson.bench.scenario.History;
import io.keelson.bench.scenario.Idle;
import io.keelson.bench.scenario.Recovery;
import io.keelson.bench.scenario.Sizes;
import io.keelson.bench.scenario.SlowSteps;
import io.keelson.bench.scenario.TenSteps;
import io.keelson.bench.scenario.TwoTenants;
import java.util.Collections;
import java.util.List;
import java.util.OptionalDouble;

/** Compares targets with measurements; ratios are of medians of one benchmark run. */
final class Bars {
    /** Audited transitions of a ten-step run: twenty of its steps, four of its task, four of its own, two of its agent. */
    private static final int TRANSITIONS_OF_A_RUN = 30;

    private final Results results;
    private final Sizes sizes;

    Bars(Results results, Sizes sizes) {
        this.results = results;
        this.sizes = sizes;
    }

    List<Bar> all() {
        int most = Collections.max(sizes.inFlight());
        OptionalDouble ours = ten(ContenderKind.KEELSON, most, Measure.RUNS_PER_SECOND);
        OptionalDouble alone = ten(ContenderKind.KEELSON, 1, Measure.P50);
        OptionalDouble limit = results.median(TenSteps.TITLE, TenSteps.LIMIT, ContenderKind.SQL_LIMIT.title(),
                Measure.TRANSITIONS_PER_SECOND);
        return List.of(
                atLeast("runs/s with " + most + " in flight ÷ DBOS at its best: at least 8", 8,
                        ratio(ours, best(ContenderKind.DBOS))),
                atLeast("runs/s with " + most + " in flight ÷ Restate at its best: at least 10", 10,
                        ratio(ours, best(ContenderKind.RESTATE))),
                atLeast("its transitions/s ÷ set-wise SQL limit: at least 0.5", 0.5,
                        times(ratio(ours, limit), TRANSITIONS_OF_A_RUN)),
                atLeast("runs/s with a charge per step ÷ without: at least 0.8", 0.8,
                        ratio(keelson(TenSteps.TITLE, TenSteps.charged(most), Measure.RUNS_PER_SECOND), ours)),
                atMost("p50 alone, ms: at most 6", 6, alone),
                atMost("p50 alone ÷ DBOS: at most 1", 1, ratio(alone, ten(ContenderKind.DBOS, 1, Measure.P50))),
                atMost("p50 with 32 in flight, ms: at most 15", 15, ten(ContenderKind.KEELSON, 32, Measure.P50)),
                atMost("p99 with 32 in flight, ms: at most 80", 80, ten(ContenderKind.KEELSON, 32, Measure.P99)),
                atMost("cost per step in the big run ÷ in runs of 10 tasks: at most 1.5", 1.5,
                        ratio(keelson(BigRun.TITLE, BigRun.big(sizes.stages()), Measure.MICROS_PER_STEP),
                                keelson(BigRun.TITLE, BigRun.SMALL, Measure.MICROS_PER_STEP))),
                atMost("cost of a run with history in the tables ÷ without: at most 1.2", 1.2,
                        ratio(keelson(History.TITLE, History.EMPTY, Measure.RUNS_PER_SECOND),
                                keelson(History.TITLE, History.full(sizes.history()), Measure.RUNS_PER_SECOND))),
                atMost("claim from a deep queue ÷ from a nearly empty one: at most 2", 2,
                        ratio(keelson(DeepQueue.TITLE, DeepQueue.deep(sizes.queued()), Measure.P50),
                                keelson(DeepQueue.TITLE, DeepQueue.SHALLOW, Measure.P50))),
                atMost("p99 of a quiet workspace while another submits a flood ÷ alone: at most 2", 2,
                        ratio(server(TwoTenants.TITLE, TwoTenants.SUBMITTED, Measure.P99),
                                server(TwoTenants.TITLE, TwoTenants.ALONE, Measure.P99))),
                atMost("p99 of a quiet workspace beside another's flood ÷ alone: at most 2", 2,
                        ratio(server(TwoTenants.TITLE, TwoTenants.FLOODED, Measure.P99),
                                server(TwoTenants.TITLE, TwoTenants.ALONE, Measure.P99))),
                atMost("s until slow steps had ended ÷ ideal: at most 1.3", 1.3, slowSteps()),
                atMost("peak resident MB of the server's JVM with slow steps: at most 500", 500,
                        server(SlowSteps.TITLE, SlowSteps.slow(sizes.recovered()), Measure.RESIDENT_MB)),
                atMost("database connections with slow steps: at most 20", 20,
                        server(SlowSteps.TITLE, SlowSteps.slow(sizes.recovered()), Measure.CONNECTIONS)),
                atMost("idle statements/s: at most 2", 2, server(Idle.TITLE, Idle.WATCHED,
                        Measure.STATEMENTS_PER_SECOND)),
                atMost("idle resident MB of the server's JVM: at most 200", 200,
                        server(Idle.TITLE, Idle.STARTED, Measure.RESIDENT_MB)),
                atMost("s until ready, warm, with the embedded database: at most 3", 3,
                        server(Idle.TITLE, Idle.STARTED, Measure.READY_SECONDS)),
                atMost("s from kill -9 until claimed again: at most lease + 1", sizes.leaseSeconds() + 1,
                        server(Recovery.TITLE, Recovery.held(sizes.leaseSeconds()), Measure.CLAIMED_SECONDS)),
                atMost("runs in flight at kill -9 that did not complete: none", 0,
                        server(Recovery.TITLE, Recovery.inFlight(sizes.recovered()), Measure.FAILED_RUNS)));
    }

    /** The ideal is the time of the same steps that are answered at once, and one wait. */
    private OptionalDouble slowSteps() {
        OptionalDouble atOnce = server(SlowSteps.TITLE, SlowSteps.AT_ONCE, Measure.ALL_ENDED_SECONDS);
        return ratio(server(SlowSteps.TITLE, SlowSteps.slow(sizes.recovered()), Measure.ALL_ENDED_SECONDS),
                atOnce.isPresent() ? OptionalDouble.of(atOnce.getAsDouble() + SlowSteps.WAIT_SECONDS) : atOnce);
    }

    private static Bar atLeast(String text, double bound, OptionalDouble measured) {
        return new Bar(text, measured, false, bound);
    }

    private static Bar atMost(String text, double bound, OptionalDouble measured) {
        return new Bar(text, measured, true, bound);
    }

    private OptionalDouble best(ContenderKind kind) {
        return sizes.inFlight().stream().map(callers -> ten(kind, callers, Measure.RUNS_PER_SECOND))
                .flatMapToDouble(OptionalDouble::stream).max();
    }

    private OptionalDouble ten(ContenderKind kind, int callers, Measure metric) {
        return results.median(TenSteps.TITLE, TenSteps.inFlight(callers), kind.title(), metric);
    }

    private OptionalDouble keelson(String scenario, String variant, Measure metric) {
        return results.median(scenario, variant, ContenderKind.KEELSON.title(), metric);
    }

    private OptionalDouble server(String scenario, String variant, Measure metric) {
        return results.median(scenario, variant, ContenderKind.KEELSON_HTTP.title(), metric);
    }

    private static OptionalDouble ratio(OptionalDouble one, OptionalDouble other) {
        return one.isPresent() && other.isPresent() ? OptionalDouble.of(one.getAsDouble() / other.getAsDouble())
                : OptionalDouble.empty();
    }

    private static OptionalDouble times(OptionalDouble value, double factor) {
        return value.isPresent() ? OptionalDouble.of(value.getAsDouble() * factor) : value;
    }
}
