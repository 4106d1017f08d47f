package io.keelson.bench.scenario;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.contender.Load;
import io.keelson.bench.contender.Work;
import io.keelson.bench.lab.ContenderProcess;
import io.keelson.bench.report.Metric;
import java.util.List;

/** Runs of ten trivial steps, with more and more of them in flight. */
final class TenSteps implements Scenario {
    private static final int WARMING_CALLERS = 32;

    @Override
    public String name() {
        return "ten-steps";
    }

    @Override
    public String title() {
        return "Runs of ten trivial steps";
    }

    @Override
    public List<ContenderKind> contenders() {
        return List.of(ContenderKind.KEELSON, ContenderKind.DBOS, ContenderKind.SQL_LIMIT);
    }

    @Override
    public void measure(Bench bench) throws Exception {
        try (ContenderProcess contender = bench.start()) {
            contender.load(Load.during(Work.TEN_STEPS, WARMING_CALLERS, bench.sizes().warmup()));
            if (bench.kind() == ContenderKind.SQL_LIMIT) {
                bench.rate("two connections", Metric.TRANSITIONS_PER_SECOND,
                        () -> contender.load(Load.during(Work.TEN_STEPS, 2, bench.sizes().seconds())));
                return;
            }
            for (int callers : bench.sizes().inFlight()) {
                bench.rate(callers + " in flight", Metric.RUNS_PER_SECOND,
                        () -> contender.load(Load.during(Work.TEN_STEPS, callers, bench.sizes().seconds())));
            }
        }
    }
}
