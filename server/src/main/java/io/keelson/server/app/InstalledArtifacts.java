package io.keelson.server.app;

import io.keelson.server.annex.s3.S3ArtifactStore;
import io.keelson.server.annex.s3.S3Settings;
import io.keelson.server.base.artifact.ArtifactStore;
import io.keelson.server.base.artifact.CopyableStore;
import io.keelson.server.base.artifact.DocumentStore;
import io.keelson.server.base.artifact.LocalArtifactStore;
import io.keelson.server.base.artifact.LocalDocumentStore;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.problem.StartupException;
import io.keelson.server.outlet.backup.RunFiles;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The artifact store that the settings name, and others that a command names. */
public final class InstalledArtifacts {

    /** The name of the store in the data folder. */
    public static final String FOLDER = "folder";

    private InstalledArtifacts() {}

    /** Opens the store of status documents, if a server writes them. */
    interface Documents {
        DocumentStore open() throws IOException;
    }

    /** The stores of a server. */
    record Stores(ArtifactStore artifacts, Documents documents) {}

    /**
     * Opens it for a server.
     *
     * @param database has the locks of status documents in an object store
     * @throws IOException if the folder cannot be used
     * @throws StartupException if the object store refuses the settings
     */
    static Stores open(Settings settings, Database database, Closer closer) throws IOException, StartupException {
        Settings.Artifacts artifacts = settings.artifacts();
        S3Settings place = artifacts.store();
        if (place == null) {
            Path folder = InstalledDatabase.artifacts(settings);
            return new Stores(new LocalArtifactStore(folder, artifacts.maxBytes()),
                    () -> new LocalDocumentStore(folder.resolve(LocalArtifactStore.DOCUMENTS)));
        }
        S3ArtifactStore store = closer.register(S3ArtifactStore.open(place, artifacts.maxBytes(), artifacts.links()));
        return new Stores(store, () -> store
                .documents(closer.register(new DatabaseDocumentLocks(database::dedicatedConnection))));
    }

    /**
     * Opens a store for a command.
     *
     * @param place null for the folder
     * @throws StartupException if the object store refuses the settings or does not respond
     */
    public static Opened open(Settings settings, S3Settings.@Nullable Location place)
            throws IOException, StartupException {
        if (place == null) {
            LocalArtifactStore folder = new LocalArtifactStore(InstalledDatabase.artifacts(settings));
            return new Opened(folder, () -> {
            });
        }
        S3ArtifactStore store = S3ArtifactStore.openReachable(new S3Settings(place, settings.artifacts().access()),
                settings.artifacts().maxBytes());
        return new Opened(store, store::close);
    }

    /** Whether a text names a store: {@code folder} or {@code s3://bucket/prefix}. */
    public static boolean isName(String name) {
        return name.equals(FOLDER) || S3Settings.Location.parse(name).isPresent();
    }

    /** The name in one spelling. */
    public static String normal(String name) {
        return S3Settings.Location.parse(name).map(S3Settings.Location::toString).orElse(name);
    }

    /** Opens the store of a name. */
    public static Opened open(Settings settings, String name) throws IOException, StartupException {
        return open(settings, S3Settings.Location.parse(name).orElse(null));
    }

    /** The files of runs, for backups of them. */
    public static OpenedFiles files(Settings settings) throws IOException, StartupException {
        S3Settings.Location place = settings.artifacts().place();
        Path folder = InstalledDatabase.artifacts(settings);
        if (place == null) {
            return new OpenedFiles(RunFiles.in(folder), () -> {
            });
        }
        Opened store = open(settings, place);
        return new OpenedFiles(RunFiles.in(store.store(), folder), store::close);
    }

    /** A store, to be closed. */
    public record Opened(CopyableStore store, Runnable release) implements AutoCloseable {
        @Override
        public void close() {
            release.run();
        }
    }

    /** Files of runs, to be closed. */
    public record OpenedFiles(RunFiles files, Runnable release) implements AutoCloseable {
        @Override
        public void close() {
            release.run();
        }
    }
}
