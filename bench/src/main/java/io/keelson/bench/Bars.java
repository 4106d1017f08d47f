package io.keelson.bench;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.report.Bar;
import io.keelson.bench.report.Measure;
import io.keelson.bench.report.Results;
import io.keelson.bench.scenario.BigRun;
import io.keelson.bench.scenario.DeepQueue;
import io.keelson.bench.scenario.History;
import io.keelson.bench.scenario.Idle;
import io.keelson.bench.scenario.OneStep;
import io.keelson.bench.scenario.QueueDrain;
import io.keelson.bench.scenario.Recovery;
import io.keelson.bench.scenario.RemoteWorkers;
import io.keelson.bench.scenario.Servers;
import io.keelson.bench.scenario.Sizes;
import io.keelson.bench.scenario.SlowSteps;
import io.keelson.bench.scenario.TenSteps;
import io.keelson.bench.scenario.TwoTenants;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/** Compares targets with measurements; ratios are of medians of one benchmark run. */
final class Bars {
    /**
     * Least ratios of runs/s.
     *
     * @param inFlight runs in flight
     * @param dbos of Keelson in process to DBOS
     * @param durableDbos of Keelson in process with each step durable before the next to DBOS, which commits each step
     * @param restate of Keelson over HTTP to Restate
     * @param durableRestate of Keelson over HTTP with each step durable before the next to Restate, which records each step
     * @param remote of a remote worker to the server's own executors over HTTP, both with each step durable
     */
    private record Ratios(int inFlight, double dbos, double durableDbos, double restate, double durableRestate,
            double remote) {}

    private static final List<Ratios> RATIOS =
            List.of(new Ratios(1, 2.4, 1.1, 2.5, 1.5, 0.6), new Ratios(8, 2.6, 1.1, 2.5, 1.5, 0.65),
                    new Ratios(32, 4.5, 2.2, 3.5, 2.2, 0.7), new Ratios(128, 6.5, 3.8, 4, 2.5, 0.8));

    private final Results results;
    private final Sizes sizes;

    Bars(Results results, Sizes sizes) {
        this.results = results;
        this.sizes = sizes;
    }

    List<Bar> all() {
        return Stream.of(tenSteps(), overHttp(), servers(), large(), slowSteps(), node()).flatMap(List::stream)
                .toList();
    }

    private List<Bar> tenSteps() {
        List<Bar> bars = new ArrayList<>();
        for (Ratios each : RATIOS) {
            String chained = TenSteps.inFlight(each.inFlight);
            String durable = TenSteps.durable(each.inFlight);
            OptionalDouble dbos = ten(ContenderKind.DBOS, chained);
            bars.add(atLeast("runs/s ÷ DBOS, " + chained, each.dbos, ratio(ten(ContenderKind.KEELSON, chained), dbos)));
            bars.add(atLeast("runs/s ÷ DBOS, " + durable, each.durableDbos,
                    ratio(ten(ContenderKind.KEELSON, durable), dbos)));
            bars.add(atLeast("runs/s of linked steps ÷ others, " + chained, 0.85,
                    ratio(ten(ContenderKind.KEELSON, TenSteps.linked(each.inFlight)),
                            ten(ContenderKind.KEELSON, chained))));
        }
        int most = Collections.max(sizes.inFlight());
        bars.add(atLeast("runs/s with a charge per step ÷ without", 0.85,
                ratio(keelson(TenSteps.TITLE, TenSteps.charged(most), Measure.RUNS_PER_SECOND),
                        keelson(TenSteps.TITLE, TenSteps.inFlight(most), Measure.RUNS_PER_SECOND))));
        bars.add(atMost("p99 ÷ p50, " + TenSteps.inFlight(32), 2.5,
                ratio(keelson(TenSteps.TITLE, TenSteps.inFlight(32), Measure.P99),
                        keelson(TenSteps.TITLE, TenSteps.inFlight(32), Measure.P50))));
        bars.add(atLeast("queue drain: runs/s ÷ JobRunr", 1.3,
                ratio(keelson(QueueDrain.TITLE, QueueDrain.queued(sizes.drain()), Measure.RUNS_PER_SECOND),
                        results.median(QueueDrain.TITLE, QueueDrain.queued(sizes.drain()),
                                ContenderKind.JOBRUNR.title(), Measure.RUNS_PER_SECOND))));
        bars.add(atLeast("queue drain: runs/s ÷ db-scheduler", 0.45,
                ratio(keelson(QueueDrain.TITLE, QueueDrain.queued(sizes.drain()), Measure.RUNS_PER_SECOND),
                        results.median(QueueDrain.TITLE, QueueDrain.queued(sizes.drain()),
                                ContenderKind.DB_SCHEDULER.title(), Measure.RUNS_PER_SECOND))));
        return bars;
    }

    private List<Bar> overHttp() {
        List<Bar> bars = new ArrayList<>();
        for (Ratios each : RATIOS) {
            String chained = TenSteps.inFlight(each.inFlight);
            String durable = TenSteps.durable(each.inFlight);
            OptionalDouble restate = ten(ContenderKind.RESTATE, chained);
            bars.add(atLeast("runs/s over HTTP ÷ Restate, " + chained, each.restate,
                    ratio(ten(ContenderKind.KEELSON_HTTP, chained), restate)));
            bars.add(atLeast("runs/s over HTTP ÷ Restate, " + durable, each.durableRestate,
                    ratio(ten(ContenderKind.KEELSON_HTTP, durable), restate)));
            bars.add(atLeast("runs/s of a remote worker ÷ the server's executors, " + durable, each.remote,
                    ratio(server(RemoteWorkers.TITLE, durable, Measure.RUNS_PER_SECOND),
                            ten(ContenderKind.KEELSON_HTTP, durable))));
        }
        String oneStep = OneStep.inFlight(sizes);
        bars.add(atMost("processor ms of a run of one step over HTTP, without compilers", 3.5,
                sum(Stream.of(Measure.DATABASE_MS, Measure.SERVER_MS, Measure.CLIENT_MS)
                        .map(part -> server(OneStep.TITLE, oneStep, part)).toList())));
        return bars;
    }

    private List<Bar> servers() {
        return List.of(atLeast("runs/s of two limited servers ÷ one", 1.9, servers(2, Measure.RUNS_PER_SECOND)),
                atLeast("runs/s of three limited servers ÷ one", 2.8, servers(3, Measure.RUNS_PER_SECOND)),
                atLeast("runs/s of four limited servers ÷ one", 3.6, servers(4, Measure.RUNS_PER_SECOND)),
                atMost("database ms per run of four servers ÷ one, at equal batch size", 1.15,
                        servers(4, Measure.DATABASE_MS)));
    }

    private List<Bar> large() {
        return List.of(
                atMost("cost per step in the big run ÷ in runs of 10 tasks", 1.5,
                        ratio(keelson(BigRun.TITLE, BigRun.big(sizes.stages()), Measure.MICROS_PER_STEP),
                                keelson(BigRun.TITLE, BigRun.SMALL, Measure.MICROS_PER_STEP))),
                atMost("cost of a run with history in the tables ÷ without", 1.2,
                        ratio(keelson(History.TITLE, History.EMPTY, Measure.RUNS_PER_SECOND),
                                keelson(History.TITLE, History.full(sizes.history()), Measure.RUNS_PER_SECOND))),
                atMost("claim from a deep queue ÷ from a nearly empty one", 2,
                        ratio(keelson(DeepQueue.TITLE, DeepQueue.deep(sizes.queued()), Measure.P50),
                                keelson(DeepQueue.TITLE, DeepQueue.SHALLOW, Measure.P50))),
                atMost("p99 of a quiet workspace while another submits a flood ÷ alone", 2,
                        ratio(server(TwoTenants.TITLE, TwoTenants.SUBMITTED, Measure.P99),
                                server(TwoTenants.TITLE, TwoTenants.ALONE, Measure.P99))),
                atMost("p99 of a quiet workspace beside another's flood ÷ alone", 2,
                        ratio(server(TwoTenants.TITLE, TwoTenants.FLOODED, Measure.P99),
                                server(TwoTenants.TITLE, TwoTenants.ALONE, Measure.P99))));
    }

    private List<Bar> slowSteps() {
        return List.of(atMost("s until slow steps had ended ÷ ideal", 1.3, slowStepsToIdeal()),
                atMost("peak resident MB of the server's JVM with slow steps", 500,
                        server(SlowSteps.TITLE, SlowSteps.slow(sizes.recovered()), Measure.RESIDENT_MB)),
                atMost("database connections with slow steps", 20,
                        server(SlowSteps.TITLE, SlowSteps.slow(sizes.recovered()), Measure.CONNECTIONS)));
    }

    private List<Bar> node() {
        return List.of(atMost("idle statements/s", 2, server(Idle.TITLE, Idle.WATCHED, Measure.STATEMENTS_PER_SECOND)),
                atMost("idle resident MB of the server's JVM", 200,
                        server(Idle.TITLE, Idle.STARTED, Measure.RESIDENT_MB)),
                atMost("s until ready, warm, with the embedded database", 2,
                        server(Idle.TITLE, Idle.STARTED, Measure.READY_SECONDS)),
                atMost("s from kill -9 until claimed again, the lease and 1 s", sizes.leaseSeconds() + 1,
                        server(Recovery.TITLE, Recovery.held(sizes.leaseSeconds()), Measure.CLAIMED_SECONDS)),
                atMost("runs in flight at kill -9 that did not complete", 0,
                        server(Recovery.TITLE, Recovery.inFlight(sizes.recovered()), Measure.FAILED_RUNS)));
    }

    /** The ideal is the time of the same steps that are answered at once, and one wait. */
    private OptionalDouble slowStepsToIdeal() {
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

    private OptionalDouble ten(ContenderKind kind, String variant) {
        return results.median(TenSteps.TITLE, variant, kind.title(), Measure.RUNS_PER_SECOND);
    }

    /** So many servers to one. */
    private OptionalDouble servers(int number, Measure metric) {
        return ratio(server(Servers.TITLE, Servers.servers(number), metric),
                server(Servers.TITLE, Servers.servers(1), metric));
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

    /** Empty when a part is. */
    private static OptionalDouble sum(List<OptionalDouble> parts) {
        return parts.stream().allMatch(OptionalDouble::isPresent)
                ? OptionalDouble.of(parts.stream().mapToDouble(OptionalDouble::getAsDouble).sum())
                : OptionalDouble.empty();
    }
}
