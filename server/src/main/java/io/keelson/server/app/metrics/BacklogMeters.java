package io.keelson.server.app.metrics;

import io.keelson.core.lifecycle.RunState;
import io.keelson.server.engine.store.queue.Backlog;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gauges that only the database knows: queried when a page is rendered, at most once in a few seconds. */
final class BacklogMeters {

    private static final Logger LOG = LoggerFactory.getLogger(BacklogMeters.class);
    private static final long CACHE_NANOS = Duration.ofSeconds(5).toNanos();

    private final Supplier<DatabaseGauges> database;
    private final LongSupplier nanos;
    private final Duration timeout;
    private volatile @Nullable DatabaseGauges last;
    private long askedAt;
    private boolean asked;
    private @Nullable Thread reading;

    /**
     * @param nanos a monotonic clock
     * @param timeout how long a page waits for the database
     */
    BacklogMeters(Meters meters, Supplier<DatabaseGauges> database, LongSupplier nanos, Duration timeout) {
        this.database = database;
        this.nanos = nanos;
        this.timeout = timeout;
        for (RunState state : RunState.values()) {
            if (!state.terminal()) {
                gauge(meters, Metric.RUNS_OPEN, figures -> figures.open().runs().getOrDefault(state.wire(), 0L),
                        state.wire());
                gauge(meters, Metric.RUNS_OLDEST,
                        figures -> figures.open().oldestRuns().getOrDefault(state.wire(), 0.0),
                        state.wire());
            }
        }
        gauge(meters, Metric.RUNS_OLDEST_ACTIVE, figures -> figures.open().oldestActive());
        gauge(meters, Metric.QUEUE_WAITING, figures -> figures.open().waiting());
        gauge(meters, Metric.QUEUE_LEASED, figures -> figures.open().leased());
        gauge(meters, Metric.QUEUE_AGE, figures -> figures.open().oldestSeconds());
        gauge(meters, Metric.ESCALATIONS, figures -> figures.open().tickets());
        gauge(meters, Metric.WORKERS, figures -> figures.open().workers());
        gauge(meters, Metric.NODES, figures -> figures.open().nodes());
        gauge(meters, Metric.RESERVED, figures -> figures.open().reserved());
        gauge(meters, Metric.OUTAGES, figures -> figures.open().outages());
        for (String kind : Backlog.INBOX_KINDS) {
            gauge(meters, Metric.INBOX, figures -> figures.open().inbox().getOrDefault(kind, 0L), kind);
            gauge(meters, Metric.INBOX_AGE,
                    databaseGauges -> databaseGauges.open().oldestInbox().getOrDefault(kind, 0.0), kind);
        }
        gauge(meters, Metric.WEBHOOK_PENDING, figures -> figures.deliveries().pending());
        gauge(meters, Metric.WEBHOOK_AGE, figures -> figures.deliveries().oldestSeconds());
        gauge(meters, Metric.WEBHOOKS_FAILING, figures -> figures.deliveries().failing());
        meters.gauge(Metric.BACKLOG_UP, () -> last == null ? 0 : 1);
    }

    /** Without an answer there is no gauge: an old value would look current. */
    private void gauge(Meters meters, Metric metric, ToDoubleFunction<DatabaseGauges> value, String... labels) {
        meters.gauge(metric, () -> {
            DatabaseGauges known = last;
            return known == null ? Double.NaN : value.applyAsDouble(known);
        }, labels);
    }

    /** Queries the database unless the last answer is recent. Bounded wait, because the page has other metrics, too. */
    synchronized void look() {
        long now = nanos.getAsLong();
        if (asked && now - askedAt < CACHE_NANOS) {
            return;
        }
        asked = true;
        askedAt = now;
        if (reading == null || !reading.isAlive()) {
            reading = Thread.ofVirtual().name("backlog").start(this::read);
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
            last = database.get();
        } catch (RuntimeException e) {
            last = null;
            LOG.warn("could not read the backlog: {}", e.getMessage());
        }
    }
}
