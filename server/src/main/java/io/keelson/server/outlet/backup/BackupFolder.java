package io.keelson.server.outlet.backup;

import io.keelson.server.base.artifact.PrivateFolders;
import io.keelson.server.base.db.Migrations;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import io.keelson.server.base.problem.FileProblems;
import io.keelson.server.outlet.backup.BackupException.Code;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/**
 * The files of a backup: {@code backup.json} and {@code backup.json.sha256}, {@code SHA256SUMS}, {@code tables/NAME.NNNN.copy.gz} and
 * {@code artifacts/}. The folder is readable by its owner only.
 */
public final class BackupFolder {

    static final String TABLES = "tables";
    static final String ARTIFACTS = "artifacts";
    private static final String MANIFEST = "backup.json";
    private static final String MANIFEST_SUM = MANIFEST + ".sha256";
    private static final String SUMS = "SHA256SUMS";
    private static final String UNFINISHED = "unfinished";
    private static final int MAX_MANIFEST_BYTES = 4 << 20;

    private final Path path;

    public BackupFolder(Path path) {
        this.path = path.toAbsolutePath().normalize();
    }

    /** Work with files of the folder, whose failure is BACKUP_FOLDER_UNUSABLE. */
    @FunctionalInterface
    interface FileWork<T extends @Nullable Object> {
        T run() throws IOException;
    }

    static <T extends @Nullable Object> T files(FileWork<T> work) {
        try {
            return work.run();
        } catch (FileSystemException e) {
            throw new BackupException(Code.BACKUP_FOLDER_UNUSABLE, "cannot use " + e.getFile() + ": "
                    + FileProblems.reason(e), e);
        } catch (IOException e) {
            throw unusable("use", "the files", e);
        }
    }

    /** A failure of the system without the name of a file, such as a full disk. */
    static BackupException unusable(String action, Object place, IOException e) {
        return new BackupException(Code.BACKUP_FOLDER_UNUSABLE, "cannot " + action + " " + place + ": "
                + FileProblems.reason(e) + ". When this is corrected, call the command again: it continues.", e);
    }

    Path file(String name) {
        return path.resolve(name);
    }

    Path sums() {
        return path.resolve(SUMS);
    }

    /**
     * Makes the folder, or takes the one of a backup that was not finished, and keeps other processes out until the channel is
     * closed.
     *
     * @throws BackupException BACKUP_FOLDER_NOT_EMPTY or BACKUP_IN_PROGRESS
     */
    FileChannel begin() throws IOException {
        Path mark = path.resolve(UNFINISHED);
        if (!Files.isDirectory(path)) {
            if (path.getParent() != null) {
                Files.createDirectories(path.getParent());
            }
            PrivateFolders.create(path);
        }
        try (var entries = Files.list(path)) {
            if (!Files.exists(mark) && entries.findAny().isPresent()) {
                throw new BackupException(Code.BACKUP_FOLDER_NOT_EMPTY, path + " is not empty"
                        + (Files.exists(path.resolve(MANIFEST)) ? ": it has a finished backup" : "")
                        + ". Give each backup a folder of its own.");
            }
        }
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
        FileChannel channel = FileChannel.open(mark, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        if (channel.tryLock() == null) {
            channel.close();
            throw new BackupException(Code.BACKUP_IN_PROGRESS, "Another process writes a backup to " + path + ".");
        }
        Files.createDirectories(path.resolve(TABLES));
        try (var old = Files.list(path.resolve(TABLES))) {
            for (Path file : old.toList()) {
                Files.delete(file);
            }
        }
        return channel;
    }

    /** Writes the manifest, which makes the backup finished. */
    void finish(Manifest manifest) throws IOException {
        Path unfinished = path.resolve(MANIFEST + ".new");
        Files.write(unfinished, Json.document(manifest).toPrettyString().getBytes(StandardCharsets.UTF_8));
        sync(unfinished);
        Path sum = path.resolve(MANIFEST_SUM);
        Files.writeString(sum, Digests.line(Digests.of(unfinished), MANIFEST));
        sync(sum);
        Files.move(unfinished, path.resolve(MANIFEST), StandardCopyOption.ATOMIC_MOVE);
        sync(path);
        Files.delete(path.resolve(UNFINISHED));
    }

    static void sync(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /**
     * Reads the manifest of a finished backup, and compares it and the file of digests with their own digests.
     *
     * @throws BackupException BACKUP_INCOMPLETE, BACKUP_DAMAGED or BACKUP_NEWER
     */
    public Manifest read() {
        return files(() -> {
            Manifest manifest = manifest();
            if (!Files.isRegularFile(sums()) || !Digests.of(sums()).equals(manifest.sums())) {
                throw damage(sums() + " is not the file that the backup wrote.", null);
            }
            return manifest;
        });
    }

    private Manifest manifest() throws IOException {
        Path file = path.resolve(MANIFEST);
        try {
            if (Files.size(file) > MAX_MANIFEST_BYTES) {
                throw damage(file + " is too large.", null);
            }
            if (!Digests.of(file).equals(Digests.read(path.resolve(MANIFEST_SUM)).get(MANIFEST))) {
                throw damage(file + " is damaged: its SHA-256 is not the one in " + MANIFEST_SUM + ".", null);
            }
            var document = OutsideJson.read(Files.readAllBytes(file));
            if (!document.isObject()) {
                throw damage(file + " is not a JSON object.", null);
            }
            if (document.path("format").asInt(0) > Manifest.FORMAT) {
                throw new BackupException(Code.BACKUP_NEWER, path + " has format " + document.get("format")
                        + "; this Keelson reads up to " + Manifest.FORMAT
                        + ". Restore it with the Keelson that made it, "
                        + document.path("keelson").asString("") + ".");
            }
            return Json.MAPPER.treeToValue(document, Manifest.class);
        } catch (NoSuchFileException e) {
            throw new BackupException(Code.BACKUP_INCOMPLETE, !Files.exists(path) ? path + " does not exist."
                    : path + " has no finished backup"
                            + (Files.exists(path.resolve(UNFINISHED))
                                    ? ": it was interrupted. `keelson backup` with this folder begins again."
                                    : "."),
                    e);
        } catch (JacksonException e) {
            throw damage(file + " cannot be read: " + e.getOriginalMessage() + ".", e);
        }
    }

    /**
     * Compares every file with its digest.
     *
     * @return the manifest
     * @throws BackupException as {@link #read}
     */
    public Manifest verify(BackupProgress progress) {
        Manifest manifest = read();
        return files(() -> {
            Map<String, String> sums = Digests.read(sums());
            long done = 0;
            for (Map.Entry<String, String> each : sums.entrySet()) {
                requireDigest(each.getKey(), each.getValue());
                progress.at("files", ++done, sums.size());
            }
            return manifest;
        });
    }

    private void requireDigest(String name, String digest) throws IOException {
        Path file = file(name);
        if (!Files.isRegularFile(file)) {
            throw damage(file + " is missing.", null);
        }
        if (!Digests.of(file).equals(digest)) {
            throw damaged(file);
        }
    }

    static BackupException damaged(Path file) {
        return damage(file + " is damaged: its SHA-256 is not the one in SHA256SUMS.", null);
    }

    /** @param damage a sentence */
    static BackupException damage(String damage, @Nullable Throwable cause) {
        return new BackupException(Code.BACKUP_DAMAGED,
                damage + " Continue with an intact copy of the backup, or use another backup.", cause);
    }

    /**
     * Refuses a backup of a newer schema.
     *
     * @param known the newest version that this build has
     * @throws BackupException BACKUP_NEWER
     */
    void requireKnown(Manifest manifest, int known) {
        if (manifest.schema() > known) {
            throw new BackupException(Code.BACKUP_NEWER, path + " has version " + manifest.schema()
                    + " of the schema; this Keelson knows up to " + known + ". Restore it with Keelson "
                    + manifest.keelson() + " or a newer one.");
        }
    }

    /**
     * Checks all of a backup that can be checked without a database.
     *
     * @throws BackupException as {@link #read}, or BACKUP_NEWER for a newer schema
     */
    public Manifest requireRestorable(BackupProgress progress) {
        requireKnown(read(), Migrations.NEWEST);
        return verify(progress);
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
