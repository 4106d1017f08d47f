package io.keelson.cli.admin;

import io.keelson.cli.common.CliException;
import io.keelson.client.Json;
import io.keelson.server.app.InstalledArtifacts;
import io.keelson.server.app.InstalledDatabase;
import io.keelson.server.app.Settings;
import io.keelson.server.base.artifact.StoreOwner;
import io.keelson.server.base.problem.StartupException;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "adopt", description = {
        "Makes the database of the settings the owner of the prefix in KEELSON_ARTIFACTS, after it has replaced another database: by a restore, a dump or pg_upgrade.",
        "Servers of the former owner no longer change the prefix. Stop them before. See docs/operate/object-stores.md."},
        footer = {"  keelson artifacts adopt",
                "  KEELSON_ARTIFACTS=s3://bucket/keelson KEELSON_DATABASE_URL=postgresql://user:password@db:5432/keelson keelson artifacts adopt --yes"})
public final class ArtifactsAdoptCommand extends InstallationCommand {

    @Option(names = "--yes", description = "Do not ask.")
    boolean yes;

    @Override
    void run(Settings settings) throws IOException {
        if (settings.artifacts().place() == null) {
            throw CliException.usage("USAGE", "artifacts are in a folder, which has no owner: set KEELSON_ARTIFACTS");
        }
        try (InstalledDatabase database = ArtifactsMoveCommand.database(settings);
                InstalledArtifacts.Opened store = InstalledArtifacts.open(settings)) {
            StoreOwner former = store.owner();
            String place = store.store().place();
            if (former != null && !confirm(yes, "Take " + place + " from " + former,
                    place + " would be taken from " + former)) {
                return;
            }
            store.adopt(database.url());
            show(place, former, store.owner());
        } catch (StartupException e) {
            throw CliException.startup(e);
        } catch (IOException e) {
            throw CliException.failed("ARTIFACT_STORE_FAILED", String.valueOf(e.getMessage()), e);
        }
    }

    private void show(String place, @Nullable StoreOwner former, @Nullable StoreOwner owner) {
        print(() -> Json.object().put("place", place).put("owner", owner == null ? null : owner.id())
                .put("former_owner", former == null ? null : former.id()),
                () -> List.of(place + " belongs to " + owner));
    }
}
