package io.keelson.server.app.metrics;

import io.keelson.server.base.artifact.ArtifactStoreObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** Counts the use of the artifact store. */
final class ArtifactMeters implements ArtifactStoreObserver {
    private final Map<Operation, Timer> times = new EnumMap<>(Operation.class);
    private final Map<Operation, Map<Outcome, Counter>> requests = new EnumMap<>(Operation.class);
    private final Counter stored;
    private final Counter read;

    ArtifactMeters(Meters meters) {
        for (Operation operation : Operation.values()) {
            String name = name(operation);
            times.put(operation, meters.timer(Metric.ARTIFACT_TIME, name));
            Map<Outcome, Counter> outcomes = new EnumMap<>(Outcome.class);
            for (Outcome outcome : Outcome.values()) {
                outcomes.put(outcome, meters.counter(Metric.ARTIFACT_REQUESTS, name, name(outcome)));
            }
            requests.put(operation, outcomes);
        }
        this.stored = meters.counter(Metric.ARTIFACT_BYTES, "stored");
        this.read = meters.counter(Metric.ARTIFACT_BYTES, "read");
    }

    private static String name(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public void onRequest(Operation operation, Outcome outcome, long nanos) {
        onRequest(operation, outcome);
        Objects.requireNonNull(times.get(operation)).record(nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void onBrokenRead() {
        onRequest(Operation.READ, Outcome.FAILED);
    }

    private void onRequest(Operation operation, Outcome outcome) {
        Objects.requireNonNull(Objects.requireNonNull(requests.get(operation)).get(outcome)).increment();
    }

    @Override
    public void onStored(long bytes) {
        stored.increment(bytes);
    }

    @Override
    public void onRead(long bytes) {
        read.increment(bytes);
    }
}
