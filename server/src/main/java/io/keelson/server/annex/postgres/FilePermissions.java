package io.keelson.server.annex.postgres;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/** Creates files and folders with owner-only access, and deletes whole folders. */
final class FilePermissions {

    static final Set<PosixFilePermission> PRIVATE_FILE = PosixFilePermissions.fromString("rw-------");
    static final Set<PosixFilePermission> PRIVATE_DIRECTORY = PosixFilePermissions.fromString("rwx------");

    private FilePermissions() {}

    /** Makes a folder of mode 0700 where there is none yet. */
    static void createPrivateDirectory(Path directory) throws IOException {
        try {
            Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(PRIVATE_DIRECTORY));
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(directory)) {
                throw e;
            }
        }
    }

    /** The folder and everything below it, parents first; symbolic links are not followed. */
    static List<Path> tree(Path directory) throws IOException {
        try (var paths = Files.walk(directory)) {
            return paths.toList();
        }
    }

    /** Deletes the folder with everything below it; nothing happens where it does not exist. */
    static void deleteTree(Path directory) throws IOException {
        if (Files.exists(directory)) {
            for (Path path : tree(directory).stream().sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }
}
