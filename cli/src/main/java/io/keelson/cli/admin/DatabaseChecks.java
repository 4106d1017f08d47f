package io.keelson.cli.admin;

import io.keelson.api.tenant.DatabaseLoss;
import io.keelson.cli.view.AmountText;
import io.keelson.server.annex.postgres.EmbeddedPostgres;
import io.keelson.server.annex.postgres.EmbeddedPostgresOptions;
import io.keelson.server.app.ArchiveProgress;
import io.keelson.server.app.SecretKeys;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.Adoption;
import io.keelson.server.base.db.DatabaseException;
import io.keelson.server.base.db.DatabaseException.Code;
import io.keelson.server.base.db.DatabaseProbe;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.problem.StartupException;
import io.keelson.server.outlet.backup.BackupLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Checks the configured database, or an embedded database that the check starts. */
final class DatabaseChecks {

    /** Connections for commits and notifications. */
    private static final int CONNECTIONS_BESIDE_POOLS = 4;
    private static final Duration MAX_SKEW = Duration.ofSeconds(1);

    private final Clock clock;

    DatabaseChecks(Clock clock) {
        this.clock = clock;
    }

    List<CheckResult> findings(Settings settings) {
        try {
            String url = settings.databaseUrl();
            return url == null ? embedded(settings) : look(DatabaseUrl.parse(url), true, settings);
        } catch (DatabaseException e) {
            return List.of(CheckResult.fail("database", e.code() + ": " + e.getMessage(),
                    advice(e.code(), settings.databaseUrl() == null)));
        } catch (StartupException e) {
            return List.of(CheckResult.fail("secrets", e.code() + ": " + e.getMessage(),
                    "docs/guide/secrets.md has the form of a key"));
        } catch (IOException e) {
            return List.of(CheckResult.fail("database",
                    "not tried: the temporary folder " + System.getProperty("java.io.tmpdir") + " cannot be written",
                    "free space in it, or allow this user to write to it"));
        }
    }

    /** Checks the data folder's own cluster if it exists, else a temporary one. */
    private List<CheckResult> embedded(Settings settings) throws IOException, StartupException {
        Path dataDir = settings.dataDir();
        Optional<DatabaseUrl> running = EmbeddedPostgres.running(dataDir);
        if (running.isPresent()) {
            return look(running.get(), true, settings);
        }
        Path temporary = Files.createTempDirectory("keelson-doctor");
        try {
            boolean exists = Files.isDirectory(dataDir.resolve("postgres"));
            EmbeddedPostgresOptions options = exists ? EmbeddedPostgresOptions.lasting(dataDir)
                    : EmbeddedPostgresOptions.throwaway(temporary.resolve("data"), temporary.resolve("bin"));
            Instant begin = clock.instant();
            try (EmbeddedPostgres postgres = EmbeddedPostgres.start(options)) {
                String took = AmountText.duration(Duration.between(begin, clock.instant()));
                List<CheckResult> findings = new ArrayList<>();
                findings.add(CheckResult.ok("embedded PostgreSQL", "started in " + took));
                findings.addAll(look(postgres.url(), exists, settings));
                return findings;
            }
        } finally {
            delete(temporary);
        }
    }

    private static CheckResult archive(ArchiveProgress progress) {
        String last = progress.last() == null ? "no run has moved yet" : "the last runs moved at " + progress.last();
        return progress.overdue() == null ? CheckResult.ok("archive", last)
                : CheckResult.warn("archive", "run " + progress.overdue() + " ended more than " + progress.days()
                        + " days ago and is in the tables; " + last,
                        "docs/operate/runbooks.md#runs-do-not-move-to-the-archive");
    }

    private static double backupAge(DatabaseUrl url) throws IOException {
        try (Connection c = url.connect()) {
            return BackupLog.age(c);
        } catch (SQLException e) {
            throw new IOException(e);
        }
    }

    private static String advice(Code code, boolean embedded) {
        if (code == Code.DATABASE_SCHEMA_NEWER || code == Code.DATABASE_RESTORE_UNFINISHED) {
            return "docs/operate/backup.md has the steps";
        }
        return embedded ? "fix the problem, or set KEELSON_DATABASE_URL to a PostgreSQL of your own"
                : "correct KEELSON_DATABASE_URL or the database, then check again";
    }

    private List<CheckResult> look(DatabaseUrl url, boolean lasting, Settings settings)
            throws IOException, StartupException {
        DatabaseProbe probe = DatabaseProbe.of(url, clock);
        List<CheckResult> findings = new ArrayList<>();
        findings.add(CheckResult.ok("database", url + ", PostgreSQL " + probe.version()));
        if (lasting) {
            findings.add(CheckResult.ok("schema", probe.pendingMigrations() == 0 ? "up to date"
                    : probe.pendingMigrations() + " pending migrations, which the next server start applies"));
            findings.addAll(MachineChecks.storeOwner(settings, url));
            if (probe.pendingMigrations() == 0) {
                ArchiveProgress.of(settings, url).map(DatabaseChecks::archive).ifPresent(findings::add);
            }
        }
        List<String> keys = lasting ? SecretKeys.missing(settings, url) : List.of();
        if (!keys.isEmpty()) {
            findings.add(CheckResult.fail("secrets", "SECRET_KEY_MISSING: stored secrets are encrypted under the key "
                    + String.join(", ", keys) + ", which is not here",
                    "set KEELSON_SECRET_KEY, or copy the key to " + SecretKeys.file(settings)));
        }
        if (settings.databaseUrl() != null) {
            findings.addAll(DatabaseStateChecks.of(probe.state()));
            findings.add(DatabaseStateChecks.backups(backupAge(url)));
        }
        for (Adoption.Change change : probe.changes()) {
            findings.add(CheckResult.warn("table " + change.table(), "the next start of a server executes: "
                    + change.statement(),
                    "lock " + change.lock() + "; " + change.reason()
                            + ". docs/operate/adoption.md has the locks"));
        }
        probe.warnings().forEach(warning -> findings.add(
                CheckResult.warn("shared tables", warning, "see docs/operate/adoption.md")));
        findings.add(probe.skew().compareTo(MAX_SKEW) <= 0
                ? CheckResult.ok("clocks", "this machine and the database differ by " + probe.skew().toMillis() + " ms")
                : CheckResult.warn("clocks",
                        "this machine and the database differ by " + AmountText.duration(probe.skew()),
                        "synchronize both clocks by NTP: displayed times would be wrong"));
        int wanted = settings.databaseConnections() + CONNECTIONS_BESIDE_POOLS;
        if (probe.connections() < wanted) {
            findings.add(CheckResult.warn("connections", "the database permits this user " + probe.connections()
                    + ", and a server opens up to " + wanted,
                    "raise max_connections or the connection limit of the user"
                            + " or the database, or lower KEELSON_DATABASE_CONNECTIONS"));
        }
        if (!probe.rlsPossible()) {
            findings.add(CheckResult.warn("row-level security",
                    "the database user has BYPASSRLS and cannot create a role without it",
                    "run as an administrator: create role keelson_request; grant keelson_request to that user"));
        }
        return findings;
    }

    /** The first event that is gone, and the remedies. */
    static CheckResult lost(DatabaseLoss loss) {
        return CheckResult.fail("database history",
                "DATABASE_WENT_BACK: event " + loss.seq() + " of run " + loss.runId()
                        + ", committed at " + loss.eventAt() + ", is gone, and " + (loss.commits() - 1)
                        + " later commits that a server knew",
                "give the servers the database that has it, or continue without it by `keelson database accept`");
    }

    private static void delete(Path folder) throws IOException {
        try (var paths = Files.walk(folder)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }
}
