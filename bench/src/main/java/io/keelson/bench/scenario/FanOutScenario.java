package io.keelson.bench.scenario;

import io.keelson.bench.contender.Load;
import io.keelson.bench.contender.Work;
import io.keelson.bench.lab.ContenderProcess;
import java.util.Locale;
import java.util.Map;

/** The latency of a run of one task, a thousand tasks made from its output, and a task that joins them. */
final class FanOutScenario implements Scenario {
    private static final int WARMING_RUNS = 3;
    private static final int RUNS = 5;

    @Override
    public String name() {
        return "fan-out";
    }

    @Override
    public String title() {
        return "Fan-out and fan-in";
    }

    @Override
    public void measure(Bench bench) throws Exception {
        int items = bench.sizes().items();
        try (ContenderProcess contender = bench.start(Map.of("items", Integer.toString(items)))) {
            contender.load(Load.of(Work.FAN_OUT, 1, WARMING_RUNS));
            bench.latency(String.format(Locale.ROOT, "1 → %,d → 1", items),
                    bench.watch(() -> contender.load(Load.of(Work.FAN_OUT, 1, RUNS))));
        }
    }
}
