package io.keelson.server.base.artifact;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Holds files until they are complete: a folder for each process, which holds a lock while it lives. A starting process
 * removes the folders of ended ones.
 */
final class StagingDirectory {

    private static final String LOCK = "lock";

    private final Path folder;
    /** Held until the process ends. */
    @SuppressWarnings("unused")
    private final FileLock lock;

    StagingDirectory(Path all) throws IOException {
        PrivateFolders.createAll(all);
        removeLeftovers(all);
        Path made;
        FileLock taken;
        do {
            made = PrivateFolders.create(all.resolve(UUID.randomUUID().toString()));
            taken = lock(made);
        } while (taken == null);
        folder = made;
        lock = taken;
    }

    /**
     * Locks the folder.
     *
     * @return null if another start took the unlocked folder for a left-over one
     */
    private static @Nullable FileLock lock(Path folder) throws IOException {
        FileChannel channel = FileChannel.open(folder.resolve(LOCK), StandardOpenOption.CREATE_NEW,
                StandardOpenOption.WRITE);
        FileLock taken = tryLock(channel);
        if (taken != null && Files.exists(folder.resolve(LOCK))) {
            return taken;
        }
        channel.close();
        return null;
    }

    /** A file that does not exist yet. */
    Path file(UUID id) {
        return folder.resolve(id.toString());
    }

    private static void removeLeftovers(Path all) throws IOException {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(all)) {
            for (Path entry : entries) {
                if (Files.isDirectory(entry)) {
                    removeIfLeft(entry);
                } else {
                    Files.deleteIfExists(entry);
                }
            }
        }
    }

    private static void removeIfLeft(Path folder) throws IOException {
        try (FileChannel channel = FileChannel.open(folder.resolve(LOCK), StandardOpenOption.WRITE);
                FileLock taken = tryLock(channel)) {
            if (taken != null) {
                removeAll(folder);
            }
        } catch (NoSuchFileException e) {
            // its process has only just made it, or another start has removed it
        }
    }

    private static @Nullable FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            return null; // another store of this process
        }
    }

    private static void removeAll(Path folder) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                if (!file.endsWith(LOCK)) {
                    Files.deleteIfExists(file);
                }
            }
        }
        Files.deleteIfExists(folder.resolve(LOCK));
        Files.deleteIfExists(folder);
    }
}
