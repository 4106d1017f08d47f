package io.keelson.server.outlet.backup;

import io.keelson.server.base.artifact.ArtifactRules;
import io.keelson.server.base.artifact.CopyableStore;
import io.keelson.server.base.artifact.LocalArtifactStore;
import io.keelson.server.base.artifact.PrivateFolders;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The files of runs that belong to a backup, by their paths below the folder of artifacts: artifacts, and status documents. */
public final class RunFiles {

    private final Path folder;
    private final @Nullable CopyableStore store;

    private RunFiles(Path folder, @Nullable CopyableStore store) {
        this.folder = folder;
        this.store = store;
    }

    /** All files in a folder. */
    public static RunFiles in(Path folder) {
        return new RunFiles(folder, null);
    }

    /** Artifacts in a store, status documents in a folder. */
    public static RunFiles in(CopyableStore store, Path folder) {
        return new RunFiles(folder, store);
    }

    /** Whether the place exists. An object store that can be opened does. */
    boolean exists() {
        return store != null || Files.isDirectory(folder);
    }

    void create() throws IOException {
        if (store == null) {
            PrivateFolders.createAll(folder);
        }
    }

    /** @throws NoSuchFileException if it is absent */
    InputStream open(String path) throws IOException {
        if (store == null || !ArtifactRules.isKey(path)) {
            return Files.newInputStream(folder.resolve(path));
        }
        try {
            return store.open(path);
        } catch (NoSuchFileException e) {
            throw e;
        } catch (IOException e) {
            throw new BackupException(BackupException.Code.BACKUP_INTERRUPTED, "The artifact store " + store.place()
                    + " does not return an artifact: " + e.getMessage() + ". Call the command again.", e);
        }
    }

    /** Whether there is a file with that digest. */
    boolean has(String path, String digest) throws IOException {
        if (store == null || !ArtifactRules.isKey(path)) {
            Path file = folder.resolve(path);
            return Files.isRegularFile(file) && Digests.of(file).equals(digest);
        }
        try (InputStream content = store.open(path)) {
            return Digests.of(content).equals(digest);
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /**
     * Copies a file of the backup.
     *
     * @return false if the file does not have the digest; nothing is stored then
     */
    boolean copyIn(String path, Path from, String digest) throws IOException {
        if (store == null || !ArtifactRules.isKey(path)) {
            return ArtifactFiles.copy(() -> Files.newInputStream(from), folder.resolve(path), digest) != null;
        }
        if (!Digests.of(from).equals(digest)) {
            return false;
        }
        try (InputStream content = Files.newInputStream(from)) {
            store.copyIn(path, content, digest);
        }
        return true;
    }

    /** Paths of status documents. */
    List<String> documents() throws IOException {
        Path documents = folder.resolve(LocalArtifactStore.DOCUMENTS);
        if (!Files.isDirectory(documents)) {
            return List.of();
        }
        try (var found = Files.walk(documents)) {
            return found.filter(Files::isRegularFile).sorted().map(each -> folder.relativize(each).toString()).toList();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    @Override
    public String toString() {
        return store == null ? folder.toString() : store.place();
    }
}
