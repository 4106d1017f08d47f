package io.keelson.server.app;

import io.keelson.server.annex.s3.S3ArtifactStore;
import io.keelson.server.annex.s3.S3Settings;
import io.keelson.server.base.artifact.ArtifactStore;
import io.keelson.server.base.artifact.CopyableStore;
import io.keelson.server.base.artifact.DocumentStore;
import io.keelson.server.base.artifact.LocalArtifactStore;
import io.keelson.server.base.artifact.LocalDocumentStore;
import io.keelson.server.base.artifact.StoreOwner;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseIdentity;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.problem.StartupException;
import io.keelson.server.outlet.backup.RunFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The artifact store that the settings name, and others that a command names. */
public final class InstalledArtifacts {

    /** The name of the store in the data folder. */
    public static final String FOLDER = "folder";
    /** The code where the prefix of an object store belongs to another database. */
    public static final String OTHER_OWNER = S3ArtifactStore.OTHER_OWNER;

    private InstalledArtifacts() {}

    /** Opens the store of status documents, if a server writes them. */
    interface Documents {
        DocumentStore open() throws IOException;
    }

    /**
     * The stores of a server.
     *
     * @param objects the object store; null for a folder
     */
    record Stores(ArtifactStore artifacts, Documents documents, @Nullable S3ArtifactStore objects) {

        /** Why the server must not store artifacts: the prefix of its object store belongs to another database; null if it may. */
        @Nullable String refusal() {
            return objects == null ? null : objects.refusal();
        }
    }

    /**
     * Opens it for a server.
     *
     * @param database owns the prefix of an object store, and has the locks of status documents in it
     * @throws IOException if the folder cannot be used
     * @throws StartupException if the object store refuses the settings, or belongs to another database
     */
    static Stores open(Settings settings, Database database, Closer closer) throws IOException, StartupException {
        Settings.Artifacts artifacts = settings.artifacts();
        S3Settings place = artifacts.store();
        if (place == null) {
            Path folder = InstalledDatabase.artifacts(settings);
            return new Stores(new LocalArtifactStore(folder, artifacts.maxBytes()),
                    () -> new LocalDocumentStore(folder.resolve(LocalArtifactStore.DOCUMENTS)), null);
        }
        S3ArtifactStore store = closer.register(S3ArtifactStore.open(place, artifacts.maxBytes(), artifacts.links(),
                database.withConnection(DatabaseIdentity::read)));
        return new Stores(store, () -> store
                .documents(closer.register(new DatabaseDocumentLocks(database::dedicatedConnection))), store);
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
            return new Opened(folder, null);
        }
        S3ArtifactStore store = S3ArtifactStore.openReachable(new S3Settings(place, settings.artifacts().access()),
                settings.artifacts().maxBytes());
        return new Opened(store, store);
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

    /** Opens the store of the settings for a command. */
    public static Opened open(Settings settings) throws IOException, StartupException {
        return open(settings, settings.artifacts().place());
    }

    /**
     * A store, to be closed.
     *
     * @param objects null for a folder
     */
    public record Opened(CopyableStore store, @Nullable S3ArtifactStore objects) implements AutoCloseable {

        /** The files of runs in it, and the status documents in the folder of the settings. */
        public RunFiles files(Settings settings) {
            Path folder = InstalledDatabase.artifacts(settings);
            return objects == null ? RunFiles.in(folder) : RunFiles.in(objects, folder);
        }

        /** The owner of a prefix; null for a folder, and for a prefix without an owner. */
        public @Nullable StoreOwner owner() throws IOException {
            return objects == null ? null : objects.owner();
        }

        /**
         * Claims a prefix for a command that changes objects. A folder has no owner.
         *
         * @throws StartupException if it belongs to another database
         */
        public void claim(DatabaseUrl database) throws IOException, StartupException {
            if (objects != null) {
                objects.claim(identity(database));
            }
        }

        /**
         * Checks whether {@link #claim} would succeed, and changes nothing.
         *
         * @throws StartupException if the prefix belongs to another database
         */
        public void requireClaimable(DatabaseUrl database) throws IOException, StartupException {
            if (objects != null) {
                objects.requireClaimable(identity(database));
            }
        }

        /** Makes a database the owner of a prefix, also if another database is. A folder has no owner. */
        public void adopt(DatabaseUrl database) throws IOException {
            if (objects != null) {
                objects.adopt(identity(database));
            }
        }

        @Override
        public void close() {
            if (objects != null) {
                objects.close();
            }
        }
    }

    private static DatabaseIdentity identity(DatabaseUrl database) throws IOException {
        try (Connection c = database.connect()) {
            return DatabaseIdentity.read(c);
        } catch (SQLException e) {
            throw new IOException("the database does not tell its identity: " + e.getMessage(), e);
        }
    }
}
