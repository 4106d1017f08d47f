package io.keelson.cli.admin;

import io.keelson.cli.view.AmountText;
import io.keelson.server.base.db.DatabaseState;
import io.keelson.server.base.db.Standbys;
import io.keelson.server.outlet.backup.BackupLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Checks of a PostgreSQL that Keelson does not run itself. The bounds equal the bounds of the alerts. */
final class DatabaseStateChecks {

    private DatabaseStateChecks() {}

    static List<CheckResult> of(DatabaseState state) {
        List<CheckResult> findings = new ArrayList<>();
        String size = AmountText.size((long) state.bytes());
        findings.add(CheckResult.ok("database size", Double.isNaN(state.timeline()) ? size
                : size + ", timeline " + (long) state.timeline()));
        findings.add(standbys(state.standbys()));
        String transaction = "the oldest transaction began "
                + AmountText.duration(Duration.ofSeconds((long) state.oldestTransaction())) + " ago";
        if (state.oldestTransaction() > DatabaseState.OLD_TRANSACTION_SECONDS) {
            findings.add(CheckResult.warn("transactions", transaction,
                    "docs/operate/runbooks.md, \"A transaction is old\", has the statement that names it"));
        }
        if (state.archiveFailing() || state.archiveBytes() > DatabaseState.ARCHIVE_BEHIND_BYTES) {
            findings.add(CheckResult.warn("WAL archive", AmountText.size((long) state.archiveBytes())
                    + " are not archived" + (state.archiveFailing() ? ", and the last attempt failed" : ""),
                    "the log of PostgreSQL has the output of archive_command"));
        } else if (!Double.isNaN(state.archiveBytes())) {
            findings.add(CheckResult.ok("WAL archive", AmountText.size((long) state.archiveBytes())
                    + " are not archived"));
        }
        return findings;
    }

    /** @param age in seconds; NaN without a backup */
    static CheckResult backups(double age) {
        String advice = "docs/operate/backup.md has the ways, and how other tools than `keelson backup` are recorded";
        if (Double.isNaN(age)) {
            return CheckResult.warn("backups", "none is recorded", advice);
        }
        String message = "the latest one ended " + AmountText.duration(Duration.ofSeconds((long) age)) + " ago";
        return age > BackupLog.OLD_SECONDS ? CheckResult.warn("backups", message, advice)
                : CheckResult.ok("backups", message);
    }

    private static CheckResult standbys(Standbys standbys) {
        if (!standbys.visible()) {
            return CheckResult.warn("standbys", "the database user sees neither standbys nor transactions of others",
                    "run as an administrator: grant pg_monitor to that user");
        }
        String warning = standbys.warning();
        return warning == null
                ? CheckResult.ok("standbys", standbys.synchronous() + " synchronous, " + standbys.asynchronous()
                        + " asynchronous")
                : CheckResult.warn("standbys", warning, "see docs/operate/operations.md");
    }
}
