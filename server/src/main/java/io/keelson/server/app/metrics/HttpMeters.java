package io.keelson.server.app.metrics;

import io.keelson.core.run.TraceParent;
import io.keelson.server.api.http.support.RequestListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Counts requests by route, never by path. */
final class HttpMeters implements RequestListener {

    private record Operation(String method, String route) {}

    private record Outcome(Operation operation, int status) {}

    private final Meters meters;
    private final Map<Operation, Timer> times = new ConcurrentHashMap<>();
    private final Map<Outcome, Counter> requests = new ConcurrentHashMap<>();
    private final Map<String, Counter> refusals = new ConcurrentHashMap<>();

    HttpMeters(Meters meters) {
        this.meters = meters;
    }

    @Override
    public void answered(String method, String route, int status, long nanos, @Nullable TraceParent caller) {
        Operation operation = new Operation(method, route);
        times.computeIfAbsent(operation, o -> meters.timer(Metric.HTTP_TIME, o.method, o.route))
                .record(nanos, TimeUnit.NANOSECONDS);
        requests.computeIfAbsent(new Outcome(operation, status), o -> meters.counter(Metric.HTTP_REQUESTS,
                o.operation.method, o.operation.route, Integer.toString(o.status))).increment();
    }

    @Override
    public void refused(String code) {
        refusals.computeIfAbsent(code, c -> meters.counter(Metric.HTTP_REFUSALS, c)).increment();
    }
}
