package io.keelson.server.app.metrics;

import io.keelson.server.base.db.Standbys;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/** Gauges of the condition of the database, for its operator. */
final class DatabaseMeters {

    private static final Duration PERIOD = Duration.ofSeconds(30);

    private final DatabaseReading<DatabaseHealth> reading;

    /**
     * @param nanos a monotonic clock
     * @param timeout how long a page waits for the database
     */
    DatabaseMeters(Meters meters, Supplier<DatabaseHealth> database, LongSupplier nanos, Duration timeout) {
        reading = new DatabaseReading<>("state of the database", database, PERIOD, nanos, timeout);
        reading.gauge(meters, Metric.DATABASE_TIMELINE, health -> health.state().timeline());
        reading.gauge(meters, Metric.DATABASE_SIZE, health -> health.state().bytes());
        reading.gauge(meters, Metric.OLDEST_TRANSACTION, health -> health.state().oldestTransaction());
        reading.gauge(meters, Metric.ARCHIVE_BACKLOG, health -> health.state().archiveBytes());
        reading.gauge(meters, Metric.ARCHIVE_FAILING, health -> health.state().archiveFailing() ? 1 : 0);
        reading.gauge(meters, Metric.BACKUP_AGE, DatabaseHealth::backupAge);
        reading.gauge(meters, Metric.STANDBYS_WANTED, health -> health.state().standbys().wanted() ? 1 : 0);
        standbys(meters, Metric.STANDBYS, Standbys::synchronous, "synchronous");
        standbys(meters, Metric.STANDBYS, Standbys::asynchronous, "asynchronous");
        standbys(meters, Metric.STANDBY_LAG_BYTES, Standbys::lagBytes);
        standbys(meters, Metric.STANDBY_LAG, Standbys::lagSeconds);
    }

    private void standbys(Meters meters, Metric metric, ToDoubleFunction<Standbys> value, String... labels) {
        reading.gauge(meters, metric,
                health -> health.state().standbys().visible()
                        ? value.applyAsDouble(health.state().standbys())
                        : Double.NaN,
                labels);
    }

    /** Queries the database unless the last answer is recent. */
    void look() {
        reading.look();
    }
}
