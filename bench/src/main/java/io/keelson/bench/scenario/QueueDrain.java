package io.keelson.bench.scenario;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.lab.ContenderProcess;
import io.keelson.bench.report.Measure;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** How fast a queue is worked off that was filled before anybody looked at it: runs of one step, jobs without steps. */
public final class QueueDrain implements Scenario {
    public static final String TITLE = "Queue drain: runs of one step, or jobs";
    private static final double LONGEST_SECONDS = 60;

    @Override
    public String name() {
        return "queue-drain";
    }

    @Override
    public String title() {
        return TITLE;
    }

    @Override
    public List<ContenderKind> contenders() {
        return List.of(ContenderKind.KEELSON, ContenderKind.DBOS, ContenderKind.DB_SCHEDULER, ContenderKind.JOBRUNR);
    }

    /** As tables show the variant. */
    public static String queued(int count) {
        return String.format(Locale.ROOT, "%,d queued", count);
    }

    @Override
    public void measure(Bench bench) throws Exception {
        int count = bench.sizes().drain();
        try (ContenderProcess contender = bench.start(Map.of("executors", "0"))) {
            contender.preload(count);
            bench.rate(queued(count), Measure.RUNS_PER_SECOND, contender,
                    () -> contender.drain(LONGEST_SECONDS));
        }
    }
}
