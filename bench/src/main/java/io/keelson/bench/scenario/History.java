package io.keelson.bench.scenario;

import io.keelson.bench.contender.Load;
import io.keelson.bench.contender.Work;
import io.keelson.bench.lab.ContenderProcess;
import io.keelson.bench.lab.RunCopies;
import io.keelson.bench.report.Measure;
import java.util.Locale;
import java.util.Map;

/** Ten-step runs with millions of ended steps in the tables, against empty tables: the same node before and after. */
public final class History implements Scenario {
    public static final String TITLE = "History in the tables, 32 in flight";
    public static final String EMPTY = "empty tables";
    private static final int CALLERS = 32;
    private static final int STEPS_OF_A_RUN = 10;

    @Override
    public String name() {
        return "history";
    }

    @Override
    public String title() {
        return TITLE;
    }

    @Override
    public boolean hasOneTurn() {
        return true;
    }

    /** As tables show the variant. */
    public static String full(int steps) {
        return String.format(Locale.ROOT, "%,d ended steps", steps);
    }

    @Override
    public void measure(Bench bench) throws Exception {
        Sizes sizes = bench.sizes();
        try (ContenderProcess contender = bench.start(Map.of())) {
            contender.load(Load.of(Work.TEN_STEPS, 1, 1));
            RunCopies copies = RunCopies.ofTheOnlyRun(bench.turn().url());
            measure(bench, EMPTY, contender);
            copies.insert(sizes.history() / STEPS_OF_A_RUN);
            measure(bench, full(sizes.history()), contender);
        }
    }

    private static void measure(Bench bench, String variant, ContenderProcess contender) throws Exception {
        Sizes sizes = bench.sizes();
        int callers = sizes.callers(CALLERS);
        bench.warm(contender, callers, Work.TEN_STEPS);
        for (int round = 1; round <= sizes.rounds(); round++) {
            bench.inRound(round).rate(variant, Measure.RUNS_PER_SECOND, contender,
                    () -> contender.load(Load.during(Work.TEN_STEPS, callers, sizes.seconds())));
        }
    }
}
