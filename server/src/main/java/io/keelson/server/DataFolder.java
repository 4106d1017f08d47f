package io.keelson.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** The folder in which a server keeps what is its own. */
public final class DataFolder {

    private DataFolder() {}

    /** Makes the folder, for its owner alone, where there is none yet; one that exists keeps its mode. */
    public static void create(Path folder) throws IOException {
        Path absolute = folder.toAbsolutePath();
        if (!Files.isDirectory(absolute)) {
            if (absolute.getParent() != null) {
                Files.createDirectories(absolute.getParent());
            }
            Files.createDirectories(absolute,
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
    }
}
