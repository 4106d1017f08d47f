package io.keelson.cli.admin;

import io.keelson.cli.common.CliException;
import io.keelson.server.app.InstalledArtifacts;
import io.keelson.server.app.InstalledDatabase;
import io.keelson.server.app.KeelsonVersion;
import io.keelson.server.app.SecretKeys;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.Migrations;
import io.keelson.server.base.problem.StartupException;
import io.keelson.server.outlet.backup.BackupException;
import io.keelson.server.outlet.backup.BackupFolder;
import io.keelson.server.outlet.backup.BackupLog;
import io.keelson.server.outlet.backup.BackupWriter;
import io.keelson.server.outlet.backup.Manifest;
import io.keelson.server.outlet.backup.RunFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "backup", description = {"Backs up the database and the artifacts into a folder, while servers run.",
        "All tables are of one moment. The key of the secrets is not in the backup: keep it apart. See docs/operate/backup.md."},
        footer = {"  keelson backup /backup/2026-11-29", "  keelson backup /backup/2026-11-29 --verify",
                "  KEELSON_DATABASE_URL=postgresql://user:password@db:5432/keelson keelson backup /backup/today"})
public final class BackupCommand extends InstallationCommand {

    @Parameters(paramLabel = "FOLDER", description = "New folder for the backup, or the folder of an interrupted one.")
    Path folder = Path.of("");

    @Option(names = "--verify", description = "Compare all files of a finished backup with their digests instead.")
    boolean verify;

    @Option(names = "--artifacts", paramLabel = "FOLDER",
            description = "Folder of the artifacts, if it is not that of the settings.")
    @Nullable Path artifacts;

    @Option(names = "--no-artifacts", description = "Back up the database only.")
    boolean noArtifacts;

    @Override
    void run(Settings settings) throws IOException {
        BackupFolder backup = new BackupFolder(folder);
        if (verify) {
            Manifest verified = backup.verify(progress());
            show(verified, "verified", backup);
            if (verified.schema() > Migrations.NEWEST) {
                note("it needs Keelson " + verified.keelson() + " or newer: this one knows the schema up to "
                        + Migrations.NEWEST + ", the backup has " + verified.schema());
            }
            return;
        }
        if (folder.toAbsolutePath().normalize().startsWith(settings.dataDir())) {
            throw CliException.usage("BACKUP_FOLDER_UNUSABLE",
                    folder + " is inside the data folder " + settings.dataDir() + ": a backup belongs elsewhere");
        }
        try (InstalledDatabase database = InstalledDatabase.beside(settings)
                .orElseThrow(
                        () -> CliException.failed(BackupException.Code.BACKUP_NO_SCHEMA.name(),
                                "there is no database in " + settings.dataDir()
                                        + ": set KEELSON_DATA_DIR or KEELSON_DATABASE_URL"))) {
            Manifest manifest = write(settings, database, backup);
            record(database);
            if (!manifest.secretKeys().isEmpty()) {
                note("the secrets are encrypted under the key " + String.join(", ", manifest.secretKeys())
                        + ", which is not in the backup: keep " + (settings.keys().secrets().isEmpty()
                                ? SecretKeys.file(settings)
                                : "KEELSON_SECRET_KEY")
                        + " apart from it");
            }
            show(manifest, "backed up to", backup);
        }
    }

    /** The backup is complete, even if the servers cannot report its age. */
    private void record(InstalledDatabase database) {
        try {
            BackupLog.record(database.url(), folder.toAbsolutePath().normalize().toString());
        } catch (SQLException e) {
            note("the database does not record this backup, so its age is not reported: " + e.getMessage());
        }
    }

    private Manifest write(Settings settings, InstalledDatabase database, BackupFolder backup) throws IOException {
        if (noArtifacts) {
            return write(database, null, backup);
        }
        if (artifacts != null) {
            return write(database, RunFiles.in(artifacts), backup);
        }
        try (InstalledArtifacts.Opened store = InstalledArtifacts.open(settings)) {
            return write(database, store.files(settings), backup);
        } catch (StartupException e) {
            throw CliException.startup(e);
        }
    }

    private Manifest write(InstalledDatabase database, @Nullable RunFiles files, BackupFolder backup) {
        return new BackupWriter(database.url(), files, backup, KeelsonVersion.current().toString(), progress()).write();
    }
}
