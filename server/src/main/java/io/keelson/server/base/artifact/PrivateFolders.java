package io.keelson.server.base.artifact;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Folders for their owner alone, mode 0700: artifacts are the data of tenants. */
public final class PrivateFolders {
    private static final FileAttribute<Set<PosixFilePermission>> OWNER =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private PrivateFolders() {}

    /** Creates a folder and its parents, readable by the owner only. */
    public static Path createAll(Path folder) throws IOException {
        return Files.createDirectories(folder, OWNER);
    }

    /** Creates a folder, readable by the owner only. */
    public static Path create(Path folder) throws IOException {
        return Files.createDirectory(folder, OWNER);
    }
}
