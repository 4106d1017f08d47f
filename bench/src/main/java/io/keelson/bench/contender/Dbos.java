package io.keelson.bench.contender;

import dev.dbos.transact.DBOS;
import dev.dbos.transact.StartWorkflowOptions;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.workflow.Queue;
import dev.dbos.transact.workflow.Workflow;
import java.time.Duration;

/** DBOS Transact: workflows called directly, which is its fastest mode; its queue where work is to be preloaded. */
final class Dbos implements Contender {
    private static final int STEPS = 10;
    private static final String QUEUE = "drain";
    private static final String OTHER_QUEUE = "nothing-is-put-here";
    private static final int ENQUEUERS = 16;
    private static final Duration POLL = Duration.ofMillis(100);
    private static final int QUEUE_CONCURRENCY = 64;

    /** What DBOS makes durable. */
    public interface Flows {
        int tenSteps();

        int oneStep();
    }

    /** Trivial steps. */
    public static final class FlowsImpl implements Flows {
        private final DBOS dbos;
        private final Runnable ended;

        FlowsImpl(DBOS dbos, Runnable ended) {
            this.dbos = dbos;
            this.ended = ended;
        }

        @Override
        @Workflow(name = "tenSteps")
        public int tenSteps() {
            return steps(STEPS);
        }

        @Override
        @Workflow(name = "oneStep")
        public int oneStep() {
            int sum = steps(1);
            ended.run();
            return sum;
        }

        private int steps(int count) {
            int sum = 0;
            for (int i = 0; i < count; i++) {
                int number = i;
                sum += dbos.<Integer, RuntimeException>runStep(() -> number, "step-" + i);
            }
            return sum;
        }
    }

    private final Place place;
    private final DBOS dbos;
    private final Flows flows;
    private int preloaded;

    Dbos(Place place) {
        this.place = place;
        dbos = listeningTo(OTHER_QUEUE);
        flows = dbos.registerProxy(Flows.class, new FlowsImpl(dbos, () -> {}));
        dbos.launch();
    }

    private DBOS listeningTo(String queue) {
        DBOS instance = new DBOS(DBOSConfig.defaults("bench").withDatabaseUrl(place.jdbc()).withDbUser(place.user())
                .withDbPassword(place.password()).withAdminServer(false).withMigrate(true).withAppVersion("bench")
                .withListenQueues(queue));
        instance.registerQueue(queue());
        return instance;
    }

    private static Queue queue() {
        return new Queue(QUEUE).withPollingInterval(POLL).withWorkerConcurrency(QUEUE_CONCURRENCY);
    }

    @Override
    public WorkloadResult load(Load load) throws Exception {
        return Callers.measure(load, Thread.ofPlatform().factory(), switch (load.work()) {
            case TEN_STEPS -> flows::tenSteps;
            case ONE_STEP -> flows::oneStep;
            default -> throw new UnsupportedOperationException("DBOS is not measured with " + load.work());
        });
    }

    @Override
    public void preload(int count) throws Exception {
        preloaded = count;
        Callers.measure(Load.of(Work.ONE_STEP, ENQUEUERS, count), Thread.ofPlatform().factory(),
                () -> dbos.startWorkflow(() -> flows.oneStep(), new StartWorkflowOptions().withQueue(QUEUE)));
    }

    /** By a second instance, which does listen to the queue. */
    @Override
    public WorkloadResult drain(double seconds) throws Exception {
        Tally tally = new Tally(preloaded);
        try (DBOS listening = listeningTo(QUEUE)) {
            listening.registerProxy(Flows.class, new FlowsImpl(listening, tally::one));
            long start = System.nanoTime();
            listening.launch();
            return tally.since(start, seconds);
        }
    }

    @Override
    public void close() {
        dbos.shutdown();
    }
}
