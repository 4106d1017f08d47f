package io.keelson.server.app.metrics;

import java.math.BigDecimal;
import java.util.concurrent.atomic.AtomicReference;

/** Adds amounts of money as decimals: a sum of doubles would be served as 0.30000000000000004. */
final class ExactCounter {
    private final AtomicReference<BigDecimal> sum = new AtomicReference<>(BigDecimal.ZERO);

    /** @param values of the metric's labels, in their order */
    ExactCounter(Meters meters, Metric metric, String... values) {
        meters.counter(metric, () -> sum.get().doubleValue(), values);
    }

    void add(BigDecimal amount) {
        sum.accumulateAndGet(amount, BigDecimal::add);
    }
}
