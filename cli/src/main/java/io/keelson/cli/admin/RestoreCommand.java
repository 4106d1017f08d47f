package io.keelson.cli.admin;

import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ProgramName;
import io.keelson.server.app.DataFolder;
import io.keelson.server.app.InstalledArtifacts;
import io.keelson.server.app.InstalledDatabase;
import io.keelson.server.app.SecretKeys;
import io.keelson.server.app.Settings;
import io.keelson.server.base.problem.StartupException;
import io.keelson.server.outlet.backup.BackupFolder;
import io.keelson.server.outlet.backup.BackupReader;
import io.keelson.server.outlet.backup.Manifest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "restore", description = {"Restores a backup into an empty database and the data folder.",
        "With KEELSON_DATABASE_URL into that database, otherwise into the embedded database of a new data folder. Compares rows, ledger and artifacts with the backup. An interrupted restore continues at the next call. See docs/operate/backup.md."},
        footer = {"  KEELSON_DATA_DIR=/srv/keelson keelson restore /backup/2026-11-29",
                "  KEELSON_DATABASE_URL=postgresql://user:password@db:5432/keelson keelson restore /backup/2026-11-29"})
public final class RestoreCommand extends InstallationCommand {

    @Parameters(paramLabel = "FOLDER", description = "Folder of the backup.")
    Path folder = Path.of("");

    @Option(names = "--without-secret-key",
            description = "Restore although the key of the secrets is not here. Their values cannot be read; set them again.")
    boolean withoutSecretKey;

    @Option(names = "--adopt-artifacts",
            description = "Make the restored database the owner of the prefix in KEELSON_ARTIFACTS, although another database is. All servers of that one must have stopped.")
    boolean adopt;

    @Override
    void run(Settings settings) throws IOException {
        BackupFolder backup = new BackupFolder(folder);
        Manifest manifest = backup.requireRestorable(progress());
        DataFolder.create(settings.dataDir());
        List<String> missing;
        List<String> present;
        try {
            missing = SecretKeys.missing(settings, manifest.secretKeys());
            present = SecretKeys.present(settings);
        } catch (StartupException e) {
            throw CliException.startup(e);
        }
        if (!missing.isEmpty() && !withoutSecretKey) {
            throw CliException.usage("SECRET_KEY_MISSING", "the secrets of the backup are encrypted under the key "
                    + String.join(", ", missing) + ", which is not here"
                    + (present.isEmpty() ? "" : " (here: " + String.join(", ", present) + ")")
                    + ": set KEELSON_SECRET_KEY or copy the key to "
                    + SecretKeys.file(settings) + "; --without-secret-key restores all but the values of secrets");
        }
        try (InstalledDatabase database = InstalledDatabase.alone(settings)) {
            try (InstalledArtifacts.Opened store = InstalledArtifacts.open(settings)) {
                if (!adopt) {
                    store.requireClaimable(database.url());
                }
                new BackupReader(database.url(), store.files(settings), backup, progress()).restore();
                store.adopt(database.url());
            }
        } catch (StartupException e) {
            throw CliException.startup(e);
        }
        if (!missing.isEmpty()) {
            note("the values of secrets under the key " + String.join(", ", missing)
                    + " cannot be read: set them again with `keelson secrets set`");
        }
        show(manifest, "restored", backup);
        note("start `" + ProgramName.current() + " server` with KEELSON_DATA_DIR=" + settings.dataDir()
                + (settings.databaseUrl() == null ? "" : " and KEELSON_DATABASE_URL")
                + (manifest.secretKeys().isEmpty() || !missing.isEmpty() ? ""
                        : ", and with the key of the secrets that is here now")
                + ". Open runs continue, and former API keys stay valid; `" + ProgramName.current()
                + " keys` lists them");
    }
}
