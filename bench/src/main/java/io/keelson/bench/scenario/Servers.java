package io.keelson.bench.scenario;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.contender.Load;
import io.keelson.bench.contender.Work;
import io.keelson.bench.lab.ContenderProcess;
import io.keelson.bench.report.Measure;
import java.util.List;
import java.util.Map;

/** Server processes on the same database, more and more of them; clients go to all in turn. */
public final class Servers implements Scenario {
    private static final int CALLERS = 128;
    public static final String TITLE = "Servers on one database, " + CALLERS + " runs of ten steps in flight";

    @Override
    public String name() {
        return "servers";
    }

    @Override
    public String title() {
        return TITLE;
    }

    @Override
    public List<ContenderKind> contenders() {
        return List.of(ContenderKind.KEELSON_HTTP);
    }

    /** As tables show the variant. */
    public static String servers(int number) {
        return number == 1 ? "1 server" : number + " servers";
    }

    @Override
    public void measure(Bench bench) throws Exception {
        int callers = bench.sizes().callers(CALLERS);
        for (int number : bench.sizes().servers()) {
            try (ContenderProcess contender = bench.start(Map.of("nodes", Integer.toString(number)))) {
                bench.warm(contender, callers, Work.TEN_STEPS);
                bench.rate(servers(number), Measure.RUNS_PER_SECOND, contender,
                        () -> contender.load(Load.during(Work.TEN_STEPS, callers, bench.sizes().seconds())));
            }
        }
    }
}
