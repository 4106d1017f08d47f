package io.keelson.server.app.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.DoubleSupplier;
import java.util.stream.LongStream;

/** The registry, with meters made from {@link Metric}s only. Renders text. */
final class Meters {

    private static final Duration[] DURATIONS =
            LongStream.of(1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000).mapToObj(Duration::ofMillis)
                    .toArray(Duration[]::new);
    /** Fewer buckets, because each route has a histogram. */
    private static final Duration[] REQUESTS =
            LongStream.of(5, 20, 100, 500, 2_000, 10_000).mapToObj(Duration::ofMillis).toArray(Duration[]::new);
    private static final double[] SIZES = {1, 2, 5, 10, 20, 50, 100, 200, 300};

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    /** Strong references, as the registry has only weak ones. */
    private final List<DoubleSupplier> counted = new CopyOnWriteArrayList<>();

    /** @param values of the metric's labels, in their order */
    Counter counter(Metric metric, String... values) {
        return Counter.builder(metric.served()).description(metric.meaning()).tags(tags(metric, values))
                .register(registry);
    }

    /** A counter with an external value. */
    void counter(Metric metric, DoubleSupplier value, String... values) {
        counted.add(value);
        FunctionCounter.builder(metric.served(), value, DoubleSupplier::getAsDouble).description(metric.meaning())
                .tags(tags(metric, values)).register(registry);
    }

    void gauge(Metric metric, DoubleSupplier value, String... values) {
        Gauge.builder(metric.served(), value::getAsDouble).description(metric.meaning()).tags(tags(metric, values))
                .register(registry);
    }

    Timer timer(Metric metric, String... values) {
        return Timer.builder(metric.served()).description(metric.meaning()).tags(tags(metric, values))
                .serviceLevelObjectives(values.length == 0 ? DURATIONS : REQUESTS).register(registry);
    }

    DistributionSummary sizes(Metric metric) {
        return DistributionSummary.builder(metric.served()).description(metric.meaning()).serviceLevelObjectives(SIZES)
                .register(registry);
    }

    private static List<Tag> tags(Metric metric, String[] values) {
        List<String> labels = metric.labels();
        if (labels.size() != values.length) {
            throw new IllegalArgumentException(metric + " has the labels " + labels);
        }
        List<Tag> tags = new ArrayList<>(values.length);
        for (int i = 0; i < values.length; i++) {
            tags.add(Tag.of(labels.get(i), values[i]));
        }
        return tags;
    }

    /** @param type {@code text/plain; version=0.0.4; …} or {@code application/openmetrics-text; …} */
    String page(String type) {
        return registry.scrape(type);
    }
}
