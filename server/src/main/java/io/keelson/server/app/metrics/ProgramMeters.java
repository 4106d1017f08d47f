package io.keelson.server.app.metrics;

import io.keelson.server.annex.mcp.gateway.ToolGatewayObserver;
import io.micrometer.core.instrument.Counter;

/** Counts calls of tools by programs of steps. */
final class ProgramMeters implements ToolGatewayObserver {
    private final Counter made;
    private final Counter replayed;
    private final Counter refused;
    private final Counter parked;

    ProgramMeters(Meters meters) {
        this.made = meters.counter(Metric.GATEWAY_CALLS, "made");
        this.replayed = meters.counter(Metric.GATEWAY_CALLS, "replayed");
        this.refused = meters.counter(Metric.GATEWAY_CALLS, "refused");
        this.parked = meters.counter(Metric.GATEWAY_CALLS, "parked");
    }

    @Override
    public void onCall() {
        made.increment();
    }

    @Override
    public void onReplay() {
        replayed.increment();
    }

    @Override
    public void onPark() {
        parked.increment();
    }

    @Override
    public void onRefusal() {
        refused.increment();
    }
}
