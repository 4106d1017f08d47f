package io.keelson.bench.scenario;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.contender.Work;
import io.keelson.bench.lab.ContenderProcess;
import java.util.List;
import java.util.Map;

/** Runs of one step over HTTP: the processor time of a run with the least work. */
public final class OneStep implements Scenario {
    public static final String TITLE = "Runs of one trivial step";
    private static final int CALLERS = 16;

    @Override
    public String name() {
        return "one-step";
    }

    @Override
    public String title() {
        return TITLE;
    }

    @Override
    public List<ContenderKind> contenders() {
        return List.of(ContenderKind.KEELSON, ContenderKind.KEELSON_HTTP);
    }

    /** As tables show the variant. */
    public static String inFlight(Sizes sizes) {
        return TenSteps.inFlight(sizes.callers(CALLERS));
    }

    @Override
    public void measure(Bench bench) throws Exception {
        int callers = bench.sizes().callers(CALLERS);
        try (ContenderProcess contender = bench.start(Map.of())) {
            bench.warm(contender, callers, Work.ONE_STEP);
            bench.runs(inFlight(bench.sizes()), contender, Work.ONE_STEP, callers);
        }
    }
}
