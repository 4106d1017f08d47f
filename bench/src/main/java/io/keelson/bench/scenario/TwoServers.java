package io.keelson.bench.scenario;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.contender.Load;
import io.keelson.bench.contender.Work;
import io.keelson.bench.lab.ContenderProcess;
import io.keelson.bench.report.Measure;
import java.util.List;
import java.util.Map;

/** One server process, then two on the same database; clients go to both in turn. */
final class TwoServers implements Scenario {
    private static final int CALLERS = 128;

    @Override
    public String name() {
        return "two-servers";
    }

    @Override
    public String title() {
        return "Servers on one database, " + CALLERS + " runs of ten steps in flight";
    }

    @Override
    public List<ContenderKind> contenders() {
        return List.of(ContenderKind.KEELSON_HTTP);
    }

    @Override
    public void measure(Bench bench) throws Exception {
        int callers = bench.sizes().callers(CALLERS);
        for (int nodes = 1; nodes <= 2; nodes++) {
            try (ContenderProcess contender = bench.start(Map.of("nodes", Integer.toString(nodes)))) {
                contender.load(Load.during(Work.TEN_STEPS, callers, bench.sizes().warmup()));
                bench.rate(nodes == 1 ? "one server" : "two servers", Measure.RUNS_PER_SECOND,
                        () -> contender.load(Load.during(Work.TEN_STEPS, callers, bench.sizes().seconds())));
            }
        }
    }
}
