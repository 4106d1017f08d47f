package io.keelson.server.app.metrics;

import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gauges of one query of the database, which is executed when a page is rendered, at most once in a period. */
final class DatabaseReading<T> {

    private static final Logger LOG = LoggerFactory.getLogger(DatabaseReading.class);

    private final String name;
    private final Supplier<T> query;
    private final Duration period;
    private final LongSupplier nanos;
    private final Duration timeout;
    private volatile @Nullable T last;
    private long askedAt;
    private boolean asked;
    private @Nullable Thread reading;

    /**
     * @param name of the query, for the log
     * @param period least time between two queries
     * @param nanos a monotonic clock
     * @param timeout how long a page waits for the database
     */
    DatabaseReading(String name, Supplier<T> query, Duration period, LongSupplier nanos, Duration timeout) {
        this.name = name;
        this.query = query;
        this.period = period;
        this.nanos = nanos;
        this.timeout = timeout;
    }

    /** Adds a gauge. Without an answer of the database its value is NaN: an old value would look current. */
    void gauge(Meters meters, Metric metric, ToDoubleFunction<T> value, String... labels) {
        meters.gauge(metric, () -> {
            T known = last;
            return known == null ? Double.NaN : value.applyAsDouble(known);
        }, labels);
    }

    /** Whether the database answered the last query. */
    boolean hasAnswer() {
        return last != null;
    }

    /** Queries the database unless the last answer is recent. Bounded wait, because the page has other metrics, too. */
    synchronized void look() {
        long now = nanos.getAsLong();
        if (asked && now - askedAt < period.toNanos()) {
            return;
        }
        asked = true;
        askedAt = now;
        if (reading == null || !reading.isAlive()) {
            reading = Thread.ofVirtual().name(name).start(this::read);
        }
        try {
            if (!reading.join(timeout)) {
                last = null;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void read() {
        try {
            last = query.get();
        } catch (RuntimeException e) {
            last = null;
            LOG.warn("could not read the {}: {}", name, e.getMessage());
        }
    }
}
