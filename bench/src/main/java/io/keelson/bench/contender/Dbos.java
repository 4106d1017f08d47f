package io.keelson.bench.contender;

import dev.dbos.transact.DBOS;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.workflow.Workflow;

/** DBOS Transact: workflows called directly, which is its fastest mode; its queue for the drain. */
final class Dbos implements Contender {
    private static final int STEPS = 10;

    /** What DBOS makes durable. */
    public interface Flows {
        int tenSteps();

        int oneStep();
    }

    /** Trivial steps. */
    public static final class FlowsImpl implements Flows {
        private final DBOS dbos;

        FlowsImpl(DBOS dbos) {
            this.dbos = dbos;
        }

        @Override
        @Workflow(name = "tenSteps")
        public int tenSteps() {
            return steps(STEPS);
        }

        @Override
        @Workflow(name = "oneStep")
        public int oneStep() {
            return steps(1);
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

    private final DBOS dbos;
    private final Flows flows;

    Dbos(Place place) {
        dbos = new DBOS(DBOSConfig.defaults("bench").withDatabaseUrl(place.jdbc()).withDbUser(place.user())
                .withDbPassword(place.password()).withAdminServer(false).withMigrate(true));
        flows = dbos.registerProxy(Flows.class, new FlowsImpl(dbos));
        dbos.launch();
    }

    @Override
    public Outcome load(Load load) throws Exception {
        return Callers.measure(load, Thread.ofPlatform().factory(), switch (load.work()) {
            case TEN_STEPS -> flows::tenSteps;
            case ONE_STEP -> flows::oneStep;
            default -> throw new UnsupportedOperationException("DBOS is not measured with " + load.work());
        });
    }

    @Override
    public void close() {
        dbos.shutdown();
    }
}
