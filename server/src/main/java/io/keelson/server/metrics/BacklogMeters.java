package io.keelson.server.metrics;

import io.keelson.core.lifecycle.RunState;
import io.keelson.server.run.queue.Backlog;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What only the database knows: asked when somebody looks, and not again for a few seconds. */
final class BacklogMeters {

    private static final Logger LOG = LoggerFactory.getLogger(BacklogMeters.class);
    private static final long CACHE_NANOS = Duration.ofSeconds(5).toNanos();

    private final Supplier<DatabaseGauges> database;
    private final LongSupplier nanos;
    private final Duration patience;
    private volatile @Nullable DatabaseGauges last;
    private long askedAt;
    private boolean asked;
    private @Nullable Thread reading;

    /**
     * @param nanos a clock that only goes forward
     * @param patience how long a page waits for the database
     */
    BacklogMeters(Meters meters, Supplier<DatabaseGauges> database, LongSupplier nanos, Duration patience) {
        this.database = database;
        this.nanos = nanos;
        this.patience = patience;
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

    /** Without an answer there is no figure: an old one would look like news. */
    private void gauge(Meters meters, Metric metric, ToDoubleFunction<DatabaseGauges> value, String... labels) {
        meters.gauge(metric, () -> {
            DatabaseGauges known = last;
            return known == null ? Double.NaN : value.applyAsDouble(known);
        }, labels);
    }

    /** Asks where it was not asked a moment ago, and does not wait long: whoever scrapes wants the other figures, too. */
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
            if (!reading.join(patience)) {
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
            LOG.warn("the database does not tell what is open: {}", e.getMessage());
        }
    }
}
