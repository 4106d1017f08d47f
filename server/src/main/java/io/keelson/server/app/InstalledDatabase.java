package io.keelson.server.app;

import io.keelson.server.annex.postgres.DataDirectory;
import io.keelson.server.annex.postgres.EmbeddedPostgres;
import io.keelson.server.annex.postgres.EmbeddedPostgresOptions;
import io.keelson.server.base.db.DatabaseUrl;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The database that the settings name, for commands that use it beside its servers or without one. */
public final class InstalledDatabase implements AutoCloseable {

    private final DatabaseUrl url;
    private final Runnable release;

    private InstalledDatabase(DatabaseUrl url, Runnable release) {
        this.url = url;
        this.release = release;
    }

    /**
     * Opens it to be read. The embedded database may be that of a running server.
     *
     * @return empty if the data directory has no embedded database
     * @throws io.keelson.server.base.db.DatabaseException if the embedded database does not start
     */
    public static Optional<InstalledDatabase> beside(Settings settings) {
        String given = settings.databaseUrl();
        if (given != null) {
            return Optional.of(new InstalledDatabase(DatabaseUrl.parse(given), () -> {
            }));
        }
        Path folder = settings.dataDir();
        Optional<DatabaseUrl> running = EmbeddedPostgres.running(folder);
        if (running.isPresent()) {
            return Optional.of(new InstalledDatabase(running.get(), () -> {
            }));
        }
        return exists(settings) ? Optional.of(alone(settings)) : Optional.empty();
    }

    /** Whether the settings name a database or the data directory has the embedded one. */
    public static boolean exists(Settings settings) {
        return settings.databaseUrl() != null || Files.isDirectory(settings.dataDir().resolve("postgres"));
    }

    /**
     * Opens it and locks its data directory against servers. Creates both if absent.
     *
     * @throws io.keelson.server.base.db.DatabaseException DATA_DIR_IN_USE, or if the embedded database does not start
     */
    public static InstalledDatabase alone(Settings settings) {
        String given = settings.databaseUrl();
        if (given != null) {
            return new InstalledDatabase(DatabaseUrl.parse(given), DataDirectory.open(settings.dataDir())::close);
        }
        EmbeddedPostgres postgres = EmbeddedPostgres.start(EmbeddedPostgresOptions.lasting(settings.dataDir()));
        return new InstalledDatabase(postgres.url(), postgres::close);
    }

    /** The folder of the artifact store. */
    public static Path artifacts(Settings settings) {
        return settings.dataDir().resolve("artifacts");
    }

    public DatabaseUrl url() {
        return url;
    }

    @Override
    public void close() {
        release.run();
    }
}
