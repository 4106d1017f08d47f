package io.keelson.bench.scenario;

import java.util.List;

/** All there are, in the order of the report. */
public final class Scenarios {
    public static final List<Scenario> ALL = List.of(new TenSteps(), new OneStep(), new QueueDrain(), new BigRun(),
            new FanOutScenario(), new RemoteWorkers(), new Servers(), new TwoTenants(), new SlowSteps(),
            new TurnsInFlight(), new GatewayRequests(), new Recovery(), new Idle(), new DeepQueue(), new History(),
            new TimeOfARun());

    private Scenarios() {}
}
