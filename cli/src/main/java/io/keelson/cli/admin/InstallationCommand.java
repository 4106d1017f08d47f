package io.keelson.cli.admin;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.view.AmountText;
import io.keelson.client.Json;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.DatabaseException;
import io.keelson.server.outlet.backup.BackupException;
import io.keelson.server.outlet.backup.BackupProgress;
import io.keelson.server.outlet.backup.Manifest;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/** A command on the database and the files of an installation, without its server. */
abstract class InstallationCommand extends CliCommand {

    private static final Duration BETWEEN_NEWS = Duration.ofSeconds(1);

    private Instant shown = Instant.MIN;

    @Override
    public final Integer call() throws IOException {
        Settings settings = settings();
        news("opening the database");
        try {
            run(settings);
            return ExitCode.OK;
        } catch (BackupException e) {
            throw CliException.failed(e.code().name(), String.valueOf(e.getMessage()), e);
        } catch (DatabaseException e) {
            throw CliException.failed(e.code().name(), String.valueOf(e.getMessage()), e);
        }
    }

    abstract void run(Settings settings) throws IOException;

    /** Says at a terminal how far it is, about once a second. */
    final BackupProgress progress() {
        return (what, done, all) -> {
            Instant now = clock().instant();
            if (Duration.between(shown, now).compareTo(BETWEEN_NEWS) >= 0) {
                shown = now;
                news(what.equals("tables")
                        ? "tables: " + AmountText.size(done) + " of " + AmountText.size(all)
                        : what + ": " + AmountText.count(done) + " of " + AmountText.count(all));
            }
        };
    }

    /** Prints the content of a backup. */
    final void show(Manifest manifest, String verb, Object folder) {
        ObjectNode document = Json.object().put("id", manifest.id().toString()).put("folder", folder.toString())
                .put("keelson", manifest.keelson()).put("schema", manifest.schema())
                .put("taken_at", manifest.takenAt().toString()).put("tables", manifest.tables().size())
                .put("rows", manifest.rows()).put("bytes", manifest.bytes());
        Manifest.Artifacts artifacts = manifest.artifacts();
        if (artifacts != null && !artifacts.missing().isEmpty()) {
            note("warning: the store did not have " + AmountText.count(artifacts.missing().size(), "artifact")
                    + " of the backup, the first: " + artifacts.missing().getFirst());
        }
        if (artifacts != null) {
            document.put("artifacts", artifacts.files()).put("artifact_bytes", artifacts.bytes())
                    .put("artifacts_missing", artifacts.missing().size());
        }
        print(() -> document, () -> List.of(verb + " " + folder + ": "
                + AmountText.count(manifest.rows(), "row") + " in "
                + AmountText.count(manifest.tables().size(), "table")
                + ", " + AmountText.size(manifest.bytes())
                + (artifacts == null ? ", without artifacts"
                        : "; " + AmountText.count(artifacts.files(), "artifact") + ", "
                                + AmountText.size(artifacts.bytes()))));
    }
}
