package io.keelson.server.annex.postgres;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import io.keelson.server.base.db.DatabaseException;
import io.keelson.server.base.db.DatabaseException.Code;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The server's data directory, held by this process alone until closed or dead. Layout: {@code lock},
 * {@code postgres/} (the cluster), {@code postgres.secret}, {@code postgres-log/}.
 */
public final class DataDirectory implements AutoCloseable {

    /**
     * Closing any channel of a file drops the operating system's lock on it, so a second attempt inside this JVM must
     * be refused before it opens the file.
     */
    private static final Set<Path> HELD_HERE = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final FileChannel channel;

    private DataDirectory(Path path, FileChannel channel) {
        this.path = path;
        this.channel = channel;
    }

    /**
     * Makes the directory where absent and takes its lock.
     *
     * @throws DatabaseException DATA_DIR_FULL, DATA_DIR_NOT_WRITABLE or DATA_DIR_IN_USE
     */
    public static DataDirectory open(Path directory) {
        Path path = create(directory);
        if (!HELD_HERE.add(path)) {
            throw inUse(path, Long.toString(ProcessHandle.current().pid()));
        }
        try {
            return new DataDirectory(path, lock(path));
        } catch (RuntimeException | Error failure) {
            HELD_HERE.remove(path);
            throw failure;
        }
    }

    Path path() {
        return path;
    }

    Path cluster() {
        return cluster(path);
    }

    static Path cluster(Path directory) {
        return directory.resolve("postgres");
    }

    Path secretFile() {
        return secretFile(path);
    }

    static Path secretFile(Path directory) {
        return directory.resolve("postgres.secret");
    }

    Path logs() {
        return path.resolve(PostgresLog.FOLDER);
    }

    /** Gives the directory free; the second time nothing happens. */
    @Override
    public void close() {
        if (channel.isOpen()) {
            try {
                channel.close();
            } catch (IOException e) {
                throw notWritable(path, e);
            } finally {
                HELD_HERE.remove(path);
            }
        }
    }

    /** DATA_DIR_FULL where that is the cause, else DATA_DIR_NOT_WRITABLE. */
    static DatabaseException notWritable(Path path, IOException cause) {
        if (FullDisk.named(cause.getMessage())) {
            return FullDisk.failure(path, cause);
        }
        return new DatabaseException(Code.DATA_DIR_NOT_WRITABLE, "Cannot write " + path + " ("
                + cause + "). Give a data directory that this user may write.", cause);
    }

    private static Path create(Path directory) {
        try {
            if (!Files.isDirectory(directory)) {
                Path parent = directory.toAbsolutePath().getParent();
                if (parent != null) {
                    Files.createDirectories(parent);
                }
                FilePermissions.createPrivateDirectory(directory);
            }
            return directory.toRealPath();
        } catch (IOException e) {
            throw notWritable(directory, e);
        }
    }

    private static FileChannel lock(Path path) {
        Path file = path.resolve("lock");
        var mode = PosixFilePermissions.asFileAttribute(FilePermissions.PRIVATE_FILE);
        try {
            FileChannel channel = FileChannel.open(file, Set.of(CREATE, WRITE), mode);
            if (channel.tryLock() == null) {
                channel.close();
                throw inUse(path, Files.readString(file).strip());
            }
            byte[] pid = (ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.UTF_8);
            channel.truncate(0).write(ByteBuffer.wrap(pid));
            return channel;
        } catch (IOException e) {
            throw notWritable(file, e);
        }
    }

    private static DatabaseException inUse(Path path, String holder) {
        return new DatabaseException(Code.DATA_DIR_IN_USE, "The data directory " + path + " is in use by process "
                + holder + ". Stop that server, or give this one a data directory of its own.");
    }
}
