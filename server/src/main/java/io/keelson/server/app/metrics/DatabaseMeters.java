package io.keelson.server.app.metrics;

import io.keelson.server.base.db.DatabaseState;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/** Gauges of the condition of the database, for its operator. */
final class DatabaseMeters {

    private static final Duration PERIOD = Duration.ofSeconds(30);

    private final DatabaseReading<DatabaseState> reading;

    /**
     * @param nanos a monotonic clock
     * @param timeout how long a page waits for the database
     */
    DatabaseMeters(Meters meters, Supplier<DatabaseState> database, LongSupplier nanos, Duration timeout) {
        reading = new DatabaseReading<>("state of the database", database, PERIOD, nanos, timeout);
        reading.gauge(meters, Metric.DATABASE_TIMELINE, DatabaseState::timeline);
        reading.gauge(meters, Metric.DATABASE_SIZE, DatabaseState::bytes);
        reading.gauge(meters, Metric.OLDEST_TRANSACTION, DatabaseState::oldestTransaction);
        reading.gauge(meters, Metric.ARCHIVE_BACKLOG, DatabaseState::archiveBytes);
        reading.gauge(meters, Metric.ARCHIVE_FAILING, state -> state.archiveFailing() ? 1 : 0);
        reading.gauge(meters, Metric.STANDBYS_WANTED, state -> state.standbys().wanted() ? 1 : 0);
        standbys(meters, Metric.STANDBYS, state -> state.standbys().synchronous(), "synchronous");
        standbys(meters, Metric.STANDBYS, state -> state.standbys().asynchronous(), "asynchronous");
        standbys(meters, Metric.STANDBY_LAG_BYTES, state -> state.standbys().lagBytes());
        standbys(meters, Metric.STANDBY_LAG, state -> state.standbys().lagSeconds());
    }

    private void standbys(Meters meters, Metric metric, ToDoubleFunction<DatabaseState> value, String... labels) {
        reading.gauge(meters, metric,
                state -> state.standbys().visible() ? value.applyAsDouble(state) : Double.NaN, labels);
    }

    /** Queries the database unless the last answer is recent. */
    void look() {
        reading.look();
    }
}
