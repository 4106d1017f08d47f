package io.keelson.server.outlet.backup;

import io.keelson.server.base.artifact.PrivateFolders;
import io.keelson.server.engine.store.read.StoredFiles;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Copies files of the artifact store: artifacts, uploads of workers and status documents. */
final class ArtifactFiles {

    private static final int PAGE = 1_000;

    private final BackupFolder folder;
    private final RunFiles store;
    private final BackupProgress progress;
    private final List<String> missing = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private long files;
    private long bytes;

    /** Where content comes from. */
    interface Source {
        InputStream open() throws IOException;
    }

    ArtifactFiles(BackupFolder folder, RunFiles store, BackupProgress progress) {
        this.folder = folder;
        this.store = store;
        this.progress = progress;
    }

    /** Copies the files of the connection's snapshot into the backup. Files that are there already and are right are kept. */
    Manifest.Artifacts copyOut(Connection c, Appendable sums) throws SQLException, IOException {
        long all = StoredFiles.count(c);
        if (all > 0 && !store.exists()) {
            throw new BackupException(BackupException.Code.BACKUP_FOLDER_UNUSABLE, "The folder of artifacts " + store
                    + " does not exist. Name it with --artifacts, or leave artifacts out with --no-artifacts.");
        }
        List<StoredFiles.File> page = StoredFiles.page(c, null, PAGE);
        while (!page.isEmpty()) {
            for (StoredFiles.File each : page) {
                copyOut(each, sums);
                progress.at(BackupFolder.ARTIFACTS, files + missing.size(), all);
            }
            page = StoredFiles.page(c, page.getLast().storageKey(), PAGE);
        }
        for (String document : store.documents()) {
            String name = BackupFolder.ARTIFACTS + "/" + document;
            copy(() -> store.open(document), folder.file(name), null, name, sums);
        }
        removeOthers();
        return new Manifest.Artifacts(files, bytes, missing);
    }

    /** Removes files of an interrupted backup that this backup does not contain. */
    private void removeOthers() throws IOException {
        Path copies = folder.file(BackupFolder.ARTIFACTS);
        if (!Files.isDirectory(copies)) {
            return;
        }
        try (var found = Files.walk(copies)) {
            for (Path file : found.filter(Files::isRegularFile).toList()) {
                if (!names.contains(BackupFolder.ARTIFACTS + "/" + copies.relativize(file))) {
                    Files.delete(file);
                }
            }
        }
    }

    private void copyOut(StoredFiles.File artifact, Appendable sums) throws IOException {
        String name = BackupFolder.ARTIFACTS + "/" + artifact.storageKey();
        Path copy = folder.file(name);
        if (Files.isRegularFile(copy) && Files.size(copy) == artifact.sizeBytes()
                && Digests.of(copy).equals(artifact.sha256())) {
            note(name, artifact.sha256(), artifact.sizeBytes(), sums);
        } else {
            copy(() -> store.open(artifact.storageKey()), copy, artifact.sha256(), name, sums);
        }
    }

    /** @param digest that the copy must have; null if unknown. A file with another digest counts as missing */
    private void copy(Source from, Path to, @Nullable String digest, String name, Appendable sums) throws IOException {
        try {
            String copied = copy(from, to, digest);
            if (copied == null) {
                missing.add(name);
            } else {
                note(name, copied, Files.size(to), sums);
            }
        } catch (NoSuchFileException e) {
            missing.add(name);
        }
    }

    private void note(String name, String digest, long size, Appendable sums) throws IOException {
        sums.append(Digests.line(digest, name));
        names.add(name);
        files++;
        bytes += size;
    }

    /** Copies the backup's files into the store. Files that are there already and are right are kept. */
    void copyIn(Map<String, String> sums) throws IOException {
        List<Map.Entry<String, String>> artifacts = sums.entrySet().stream()
                .filter(sum -> sum.getKey().startsWith(BackupFolder.ARTIFACTS + "/")).toList();
        store.create();
        long done = 0;
        for (Map.Entry<String, String> artifact : artifacts) {
            String name = artifact.getKey();
            String digest = artifact.getValue();
            Path file = folder.file(name);
            String path = name.substring(BackupFolder.ARTIFACTS.length() + 1);
            if (!store.has(path, digest)) {
                try {
                    if (!store.copyIn(path, file, digest)) {
                        throw BackupFolder.damaged(file);
                    }
                } catch (NoSuchFileException e) {
                    throw BackupFolder.damage(file + " is missing.", e);
                } catch (FileSystemException e) {
                    throw e;
                } catch (IOException e) {
                    throw BackupFolder.unusable("write to", store, e);
                }
            }
            progress.at(BackupFolder.ARTIFACTS, ++done, artifacts.size());
        }
    }

    /**
     * Copies one file, which appears under its name when it is whole.
     *
     * @return its digest; null if it is not the given one
     */
    static @Nullable String copy(Source from, Path to, @Nullable String digest) throws IOException {
        MessageDigest counting = Digests.sha256();
        try (InputStream content = new DigestInputStream(from.open(), counting)) {
            PrivateFolders.createAll(Objects.requireNonNull(to.getParent()));
            Path unfinished = to.resolveSibling(to.getFileName() + ".new");
            try (OutputStream out = Files.newOutputStream(unfinished)) {
                content.transferTo(out);
            }
            String copied = Digests.hex(counting);
            if (digest != null && !copied.equals(digest)) {
                Files.delete(unfinished);
                return null;
            }
            BackupFolder.sync(unfinished);
            Files.move(unfinished, to, StandardCopyOption.ATOMIC_MOVE);
            return copied;
        }
    }
}
