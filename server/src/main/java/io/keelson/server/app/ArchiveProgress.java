package io.keelson.server.app;

import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.archive.RunArchive;
import io.keelson.server.engine.store.archive.RunArchive.Progress;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Whether ended runs move to the archive.
 *
 * @param overdue a run that should have moved; null if absent
 * @param days from the end of such a run
 * @param last the last move of runs; null if no run has moved
 */
public record ArchiveProgress(@Nullable UUID overdue, long days, @Nullable Instant last) {

    /** Servers look for runs each 10 minutes; a day leaves room for a store that was down. */
    private static final Duration GRACE = Duration.ofDays(1);

    /** The progress in a database with the present schema; empty if the settings ask for no archive. */
    public static Optional<ArchiveProgress> of(Settings settings, DatabaseUrl url) throws IOException {
        Duration after = settings.archive().after();
        if (after == null) {
            return Optional.empty();
        }
        Duration age = after.plus(GRACE);
        try (Connection c = url.connect()) {
            c.setAutoCommit(false);
            Progress progress = new RunArchive(DbClock.DATABASE).progress(c, age);
            return Optional.of(new ArchiveProgress(progress.overdue(), age.toDays(), progress.last()));
        } catch (SQLException e) {
            throw new IOException(e);
        }
    }
}
