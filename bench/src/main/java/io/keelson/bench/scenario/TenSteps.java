package io.keelson.bench.scenario;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.contender.Load;
import io.keelson.bench.contender.Work;
import io.keelson.bench.lab.ContenderProcess;
import io.keelson.bench.report.Measure;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** Runs of ten trivial steps, with more and more of them in flight. */
public final class TenSteps implements Scenario {
    public static final String TITLE = "Runs of ten trivial steps";
    /** The variant of the SQL limit. */
    public static final String LIMIT = "two connections";
    private static final int WARMING_CALLERS = 32;

    @Override
    public String name() {
        return "ten-steps";
    }

    @Override
    public String title() {
        return TITLE;
    }

    @Override
    public List<ContenderKind> contenders() {
        return List.of(ContenderKind.KEELSON, ContenderKind.KEELSON_HTTP, ContenderKind.DBOS, ContenderKind.RESTATE,
                ContenderKind.SQL_LIMIT);
    }

    /** As tables show the variant. */
    public static String inFlight(int callers) {
        return callers + " in flight";
    }

    /** The variant in which each step reports tokens and cost. */
    public static String charged(int callers) {
        return inFlight(callers) + ", each step charged";
    }

    /** The variant in which each step reads the output of the one before. */
    public static String linked(int callers) {
        return inFlight(callers) + ", linked";
    }

    /** The variant in which each step is committed before the next one begins, as other systems do. */
    public static String durable(int callers) {
        return inFlight(callers) + ", each step durable";
    }

    @Override
    public void measure(Bench bench) throws Exception {
        try (ContenderProcess contender = bench.start(Map.of())) {
            bench.warm(contender, bench.sizes().callers(WARMING_CALLERS), bench.kind() == ContenderKind.KEELSON
                    ? new Work[] {Work.TEN_STEPS, Work.TEN_CHARGED_STEPS, Work.TEN_LINKED_STEPS, Work.TEN_DURABLE_STEPS}
                    : keelson(bench) ? new Work[] {Work.TEN_STEPS, Work.TEN_DURABLE_STEPS}
                            : new Work[] {Work.TEN_STEPS});
            if (bench.kind() == ContenderKind.SQL_LIMIT) {
                bench.rate(LIMIT, Measure.TRANSITIONS_PER_SECOND, contender,
                        () -> contender.load(Load.during(Work.TEN_STEPS, 2, bench.sizes().seconds())));
                return;
            }
            for (int callers : bench.sizes().inFlight()) {
                bench.runs(inFlight(callers), contender, Work.TEN_STEPS, callers);
                if (keelson(bench)) {
                    bench.runs(durable(callers), contender, Work.TEN_DURABLE_STEPS, callers);
                }
                if (bench.kind() == ContenderKind.KEELSON) {
                    bench.runs(linked(callers), contender, Work.TEN_LINKED_STEPS, callers);
                }
            }
            if (bench.kind() == ContenderKind.KEELSON) {
                int most = Collections.max(bench.sizes().inFlight());
                bench.runs(charged(most), contender, Work.TEN_CHARGED_STEPS, most);
            }
        }
    }

    /** True for Keelson in process and over HTTP. */
    private static boolean keelson(Bench bench) {
        return bench.kind() == ContenderKind.KEELSON || bench.kind() == ContenderKind.KEELSON_HTTP;
    }
}
