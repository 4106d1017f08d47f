package io.keelson.bench.scenario;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.contender.Work;
import io.keelson.bench.lab.ContenderProcess;
import java.util.List;
import java.util.Map;

/** Ten-step runs whose steps a worker of the SDK claims over HTTP, many at a time, and reports in batches. */
public final class RemoteWorkers implements Scenario {
    /** As many as the executors of a server have. */
    private static final int SLOTS = 128;
    public static final String TITLE = "Runs of ten steps on a remote worker of " + SLOTS + " slots";

    @Override
    public String name() {
        return "remote-workers";
    }

    @Override
    public String title() {
        return TITLE;
    }

    @Override
    public List<ContenderKind> contenders() {
        return List.of(ContenderKind.KEELSON_HTTP);
    }

    @Override
    public void measure(Bench bench) throws Exception {
        try (ContenderProcess contender = bench.start(Map.of("slots", Integer.toString(SLOTS)))) {
            bench.warm(contender, bench.sizes().callers(SLOTS), Work.TEN_REMOTE_STEPS, Work.TEN_DURABLE_REMOTE_STEPS);
            for (int callers : bench.sizes().inFlight()) {
                bench.runs(TenSteps.inFlight(callers), contender, Work.TEN_REMOTE_STEPS, callers);
                bench.runs(TenSteps.durable(callers), contender, Work.TEN_DURABLE_REMOTE_STEPS, callers);
            }
        }
    }
}
