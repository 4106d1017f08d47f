package io.keelson.cli.admin;

import io.keelson.server.app.Settings;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.archive.RunArchive;
import io.keelson.server.engine.store.archive.RunArchive.Progress;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** Checks whether ended runs move to the archive, if the setting asks for one. */
final class ArchiveCheck {

    /** Servers look for runs each 10 minutes; a day leaves room for a store that was down. */
    private static final Duration GRACE = Duration.ofDays(1);

    private ArchiveCheck() {}

    static List<CheckResult> of(Settings settings, DatabaseUrl url) throws IOException {
        Duration after = settings.archive().after();
        if (after == null) {
            return List.of();
        }
        Progress progress;
        try (Connection c = url.connect()) {
            c.setAutoCommit(false);
            progress = new RunArchive(DbClock.DATABASE).progress(c, after.plus(GRACE));
        } catch (SQLException e) {
            throw new IOException(e);
        }
        String last = progress.last() == null ? "no run has moved yet" : "the last runs moved at " + progress.last();
        return List.of(progress.overdue() == null ? CheckResult.ok("archive", last)
                : CheckResult.warn("archive", "run " + progress.overdue() + " ended more than "
                        + after.plus(GRACE).toDays() + " days ago and is in the tables; " + last,
                        "docs/operate/runbooks.md#runs-do-not-move-to-the-archive"));
    }
}
