package io.keelson.cli.admin;

import io.keelson.cli.common.CliException;
import io.keelson.cli.view.AmountText;
import io.keelson.client.Json;
import io.keelson.server.app.InstalledArtifacts;
import io.keelson.server.app.InstalledDatabase;
import io.keelson.server.app.Settings;
import io.keelson.server.base.problem.StartupException;
import io.keelson.server.outlet.backup.ArtifactMove;
import io.keelson.server.outlet.backup.BackupException;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "move", description = {
        "Copies all artifacts to another store: from the folder to an object store, or back.",
        "Each copy is read back and compared with its digest. An interrupted move continues at the next call. Servers may run. After the last server with the old store has stopped, call the command again. See docs/operate/object-stores.md."},
        footer = {"  keelson artifacts move --to s3://bucket/keelson",
                "  KEELSON_ARTIFACTS=s3://bucket/keelson keelson artifacts move --to folder",
                "  KEELSON_ARTIFACTS=s3://bucket/keelson keelson artifacts move --from folder --remove"})
public final class ArtifactsMoveCommand extends InstallationCommand {

    @Option(names = "--from", paramLabel = "STORE",
            description = "Source: folder, or s3://bucket/prefix. That of KEELSON_ARTIFACTS if absent.")
    @Nullable String from;

    @Option(names = "--to", paramLabel = "STORE",
            description = "Target: folder, or s3://bucket/prefix. That of KEELSON_ARTIFACTS if absent.")
    @Nullable String to;

    @Option(names = "--remove", description = "Remove the files from the source when all have been copied.")
    boolean remove;

    @Override
    void run(Settings settings) throws IOException {
        String source = name("--from", from, settings);
        String target = name("--to", to, settings);
        if (source.equals(target)) {
            throw CliException.usage("USAGE", "source and target are both " + source
                    + ": name the other store with --to or --from");
        }
        try (InstalledDatabase database = database(settings);
                InstalledArtifacts.Opened old = InstalledArtifacts.open(settings, source);
                InstalledArtifacts.Opened other = InstalledArtifacts.open(settings, target)) {
            other.claim(database.url());
            if (remove) {
                old.claim(database.url());
            }
            show(new ArtifactMove(database.url(), old.store(), other.store(), progress()).run(remove), source, target);
        } catch (StartupException e) {
            throw CliException.startup(e);
        }
    }

    /** The database whose rows name the artifacts. */
    static InstalledDatabase database(Settings settings) {
        return InstalledDatabase.beside(settings)
                .orElseThrow(() -> CliException.failed(BackupException.Code.BACKUP_NO_SCHEMA.name(),
                        "there is no database in " + settings.dataDir()
                                + ": set KEELSON_DATA_DIR or KEELSON_DATABASE_URL"));
    }

    private static String name(String option, @Nullable String given, Settings settings) {
        if (given == null) {
            return settings.artifacts().place() == null ? InstalledArtifacts.FOLDER
                    : String.valueOf(settings.artifacts().place());
        }
        if (!InstalledArtifacts.isName(given)) {
            throw CliException.usage("USAGE",
                    option + " " + given + " is not a store: folder or s3://bucket/prefix");
        }
        return InstalledArtifacts.normal(given);
    }

    private void show(ArtifactMove.Result result, String source, String target) {
        if (!result.missing().isEmpty()) {
            note("warning: " + source + " did not have " + AmountText.count(result.missing().size(), "file")
                    + ", the first: " + result.missing().getFirst());
        }
        print(() -> Json.object().put("from", source).put("to", target).put("files", result.files())
                .put("copied", result.copied()).put("copied_bytes", result.bytes())
                .put("missing", result.missing().size()).put("removed", result.removed()),
                () -> List.of(target + " has " + AmountText.count(result.files(), "file") + "; "
                        + AmountText.count(result.copied(), "file") + " copied, " + AmountText.size(result.bytes())
                        + (remove ? "; " + AmountText.count(result.removed(), "file") + " removed from " + source
                                : "")));
        if (!remove) {
            note("stop the servers, call the command again for what they have stored meanwhile, and start them with KEELSON_ARTIFACTS="
                    + (target.equals(InstalledArtifacts.FOLDER) ? "" : target));
        }
    }
}
