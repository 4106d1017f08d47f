package io.keelson.server.outlet.backup;

import io.keelson.server.base.artifact.ContentDamagedException;
import io.keelson.server.base.artifact.CopyableStore;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.engine.store.read.StoredFiles;
import io.keelson.server.outlet.backup.BackupException.Code;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.NoSuchFileException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Copies the files that the database names from one artifact store to another, under their keys. Each copy is read back and compared
 * with the digest of its record. After an interruption the next call copies the other files: it verifies files that the target has.
 */
public final class ArtifactMove {

    private static final int PAGE = 500;

    private final DatabaseUrl url;
    private final CopyableStore source;
    private final CopyableStore target;
    private final BackupProgress progress;

    /**
     * The result of a move.
     *
     * @param files that the target has now, all verified
     * @param copied by this call
     * @param bytes of the copied files
     * @param missing keys that the source does not have, or with other content
     * @param removed files that the source no longer has
     */
    public record Result(long files, long copied, long bytes, List<String> missing, long removed) {}

    public ArtifactMove(DatabaseUrl url, CopyableStore source, CopyableStore target, BackupProgress progress) {
        this.url = url;
        this.source = source;
        this.target = target;
        this.progress = progress;
    }

    /** Handles a file; returns the number of bytes that it copied or removed, -1 if it did nothing. */
    private interface Action {
        long apply(StoredFiles.File file) throws IOException;
    }

    /**
     * Copies all files.
     *
     * @param remove whether the source loses its files afterwards. A file that is missing prevents that
     * @throws BackupException ARTIFACTS_MOVE_INTERRUPTED, ARTIFACTS_MOVE_INCOMPLETE
     */
    public Result run(boolean remove) {
        long[] done = new long[4];
        List<String> missing = new ArrayList<>();
        try (Connection c = url.connect()) {
            each(c, file -> {
                long copied = copy(file, missing);
                done[0] += copied < -1 ? 0 : 1;
                done[1] += copied < 0 ? 0 : 1;
                done[2] += Math.max(0, copied);
                return copied;
            });
            if (remove && !missing.isEmpty()) {
                throw new BackupException(Code.ARTIFACTS_MOVE_INCOMPLETE, source.place() + " lacks "
                        + missing.size() + " files, the first: " + missing.getFirst()
                        + ". All others are in " + target.place() + "; nothing was removed.");
            }
            if (remove) {
                each(c, file -> {
                    if (target.size(file.storageKey()) == file.sizeBytes() && source.delete(file.storageKey())) {
                        done[3]++;
                    }
                    return 0;
                });
            }
            return new Result(done[0], done[1], done[2], missing, done[3]);
        } catch (SQLException e) {
            throw new BackupException(Code.BACKUP_INTERRUPTED, "The database ended the move: " + e.getMessage()
                    + ". Call the command again: it continues.", e);
        } catch (IOException e) {
            throw new BackupException(Code.ARTIFACTS_MOVE_INTERRUPTED, "The move from " + source.place() + " to "
                    + target.place() + " was interrupted: " + e.getMessage()
                    + ". Call the command again: it continues.",
                    e);
        }
    }

    private void each(Connection c, Action action) throws SQLException, IOException {
        long all = StoredFiles.count(c);
        long at = 0;
        @Nullable String last = null;
        List<StoredFiles.File> page;
        do {
            page = StoredFiles.page(c, last, PAGE);
            for (StoredFiles.File file : page) {
                action.apply(file);
                progress.at(BackupFolder.ARTIFACTS, ++at, Math.max(at, all));
                last = file.storageKey();
            }
        } while (page.size() == PAGE);
    }

    /** Returns the copied bytes; -1 if the target has the file, -2 if the source does not. */
    private long copy(StoredFiles.File file, List<String> missing) throws IOException {
        if (target.size(file.storageKey()) == file.sizeBytes() && matches(file)) {
            return -1;
        }
        try (InputStream content = source.open(file.storageKey())) {
            target.copyIn(file.storageKey(), content, file.sha256());
        } catch (NoSuchFileException | ContentDamagedException e) {
            missing.add(file.storageKey());
            return -2;
        }
        if (!matches(file)) {
            throw new IOException(target.place() + " has other content than it was given for " + file.storageKey());
        }
        return file.sizeBytes();
    }

    private boolean matches(StoredFiles.File file) throws IOException {
        try (InputStream content = target.open(file.storageKey())) {
            return Digests.of(content).equals(file.sha256());
        }
    }
}
