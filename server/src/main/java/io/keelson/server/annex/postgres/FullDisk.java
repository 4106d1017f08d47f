package io.keelson.server.annex.postgres;

import io.keelson.server.base.db.DatabaseException;
import io.keelson.server.base.db.DatabaseException.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Recognizes that a disk has no space left. */
public final class FullDisk {
    /** PostgreSQL allocates its log in files of this size, and ends where it cannot. */
    private static final long LOG_FILE_BYTES = 16L << 20;

    private FullDisk() {}

    /** Whether a message of the JDK or of PostgreSQL names the lack of space. */
    public static boolean named(@Nullable String message) {
        return message != null
                && (message.contains("No space left on device") || message.contains("Disk quota exceeded"));
    }

    /** Whether PostgreSQL cannot run there. Its own messages do not show it: on a full disk they are lost, too. */
    static boolean at(Path cluster) {
        try {
            return Files.getFileStore(cluster).getUsableSpace() < LOG_FILE_BYTES;
        } catch (IOException e) {
            return false;
        }
    }

    /** DATA_DIR_FULL. */
    static DatabaseException failure(Path path, @Nullable Throwable cause) {
        return new DatabaseException(Code.DATA_DIR_FULL, message(path), cause);
    }

    /** The message of DATA_DIR_FULL. */
    public static String message(Path path) {
        return "The disk of " + path + " is full. What was committed is safe: free space on that disk, then start"
                + " Keelson again.";
    }
}
