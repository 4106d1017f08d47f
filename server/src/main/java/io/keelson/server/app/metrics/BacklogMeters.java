package io.keelson.server.app.metrics;

import io.keelson.core.lifecycle.RunState;
import io.keelson.server.engine.store.queue.Backlog;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/** Gauges that only the database knows: queried when a page is rendered, at most once in a few seconds. */
final class BacklogMeters {

    private static final Duration PERIOD = Duration.ofSeconds(5);

    private final DatabaseReading<DatabaseGauges> reading;

    /**
     * @param nanos a monotonic clock
     * @param timeout how long a page waits for the database
     */
    BacklogMeters(Meters meters, Supplier<DatabaseGauges> database, LongSupplier nanos, Duration timeout) {
        reading = new DatabaseReading<>("backlog", database, PERIOD, nanos, timeout);
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
        gauge(meters, Metric.QUEUE_UNSERVED, figures -> figures.open().unserved());
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
        meters.gauge(Metric.BACKLOG_UP, () -> reading.hasAnswer() ? 1 : 0);
    }

    private void gauge(Meters meters, Metric metric, ToDoubleFunction<DatabaseGauges> value, String... labels) {
        reading.gauge(meters, metric, value, labels);
    }

    /** Queries the database unless the last answer is recent. */
    void look() {
        reading.look();
    }
}
