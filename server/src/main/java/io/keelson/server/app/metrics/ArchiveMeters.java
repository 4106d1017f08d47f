package io.keelson.server.app.metrics;

import io.keelson.server.engine.upkeep.RunArchiver;
import io.micrometer.core.instrument.Counter;

/** Counts the moves of runs to the archive. */
final class ArchiveMeters implements RunArchiver.Observer {
    private final Counter archived;
    private final Counter deleted;
    private final Counter failed;
    private final Counter bytes;

    ArchiveMeters(Meters meters) {
        this.archived = meters.counter(Metric.ARCHIVE_RUNS, "archived");
        this.deleted = meters.counter(Metric.ARCHIVE_RUNS, "deleted");
        this.failed = meters.counter(Metric.ARCHIVE_RUNS, "failed");
        this.bytes = meters.counter(Metric.ARCHIVE_BYTES);
    }

    @Override
    public void onArchived(int runs, long size) {
        archived.increment(runs);
        bytes.increment(size);
    }

    @Override
    public void onDeleted(int runs) {
        deleted.increment(runs);
    }

    @Override
    public void onFailed() {
        failed.increment();
    }
}
