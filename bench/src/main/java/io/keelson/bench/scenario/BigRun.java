package io.keelson.bench.scenario;

import io.keelson.bench.contender.Load;
import io.keelson.bench.contender.Work;
import io.keelson.bench.lab.ContenderProcess;
import io.keelson.bench.report.Measure;
import java.util.Map;

/** The cost of a step in a run of ten thousand tasks, compared with runs of ten tasks at equal concurrency. */
public final class BigRun implements Scenario {
    public static final String TITLE = "One big DAG";
    public static final String SMALL = "runs of 10 tasks, 11 in flight";
    private static final int SMALL_CALLERS = 11;
    private static final int SMALL_TASKS = 10;
    private static final int STAGE_TASKS = 100;
    private static final double MICROS = 1e6;

    @Override
    public String name() {
        return "big-run";
    }

    @Override
    public String title() {
        return TITLE;
    }

    /** As tables show the variant of the big run. */
    public static String big(int stages) {
        return "one run of " + stages * STAGE_TASKS + " tasks";
    }

    @Override
    public void measure(Bench bench) throws Exception {
        Sizes sizes = bench.sizes();
        try (ContenderProcess contender = bench.start(Map.of("stages", Integer.toString(sizes.stages())))) {
            contender.load(Load.during(Work.TEN_TASKS, sizes.callers(SMALL_CALLERS), sizes.warmup()));
            int tasks = sizes.stages() * STAGE_TASKS;
            int runs = Math.max(1, tasks / SMALL_TASKS);
            perStep(bench, SMALL, runs * SMALL_TASKS,
                    () -> contender.load(Load.of(Work.TEN_TASKS, SMALL_CALLERS, runs)));
            perStep(bench, big(sizes.stages()), tasks, () -> contender.load(Load.of(Work.BIG_RUN, 1, 1)));
        }
    }

    private static void perStep(Bench bench, String variant, int steps, Bench.Measured measured) throws Exception {
        Bench.Watched watched = bench.watch(measured);
        bench.record(variant, Measure.MICROS_PER_STEP, watched.outcome().seconds() * MICROS / steps, watched.others());
    }
}
