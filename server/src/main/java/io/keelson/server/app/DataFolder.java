package io.keelson.server.app;

import io.keelson.server.annex.postgres.FullDisk;
import io.keelson.server.base.db.DatabaseException;
import io.keelson.server.base.problem.FileProblems;
import io.keelson.server.base.problem.StartupException;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The folder of a server's own files. */
public final class DataFolder {

    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rwx------");
    private static final int STICKY = 01000;

    private DataFolder() {}

    /**
     * Makes the folder for its owner alone, mode 0700. An existing folder gets that mode, too, unless it belongs to
     * another user or all users share it, such as {@code /tmp}.
     */
    public static void create(Path folder) throws IOException {
        Path absolute = folder.toAbsolutePath();
        if (Files.isDirectory(absolute)) {
            tighten(absolute);
            return;
        }
        if (absolute.getParent() != null) {
            Files.createDirectories(absolute.getParent());
        }
        Files.createDirectories(absolute, PosixFilePermissions.asFileAttribute(PRIVATE));
    }

    /** DATA_DIR_FULL where that is the reason, else DATA_DIR_NOT_WRITABLE. */
    public static StartupException unusable(Path folder, IOException e) {
        return FullDisk.named(e.getMessage())
                ? new StartupException(DatabaseException.Code.DATA_DIR_FULL.name(), FullDisk.message(folder), e)
                : new StartupException(DatabaseException.Code.DATA_DIR_NOT_WRITABLE.name(),
                        "cannot use the data directory " + folder + ": " + FileProblems.reason(e), e);
    }

    private static void tighten(Path folder) throws IOException {
        if (open(folder) && folder.getParent() != null
                && ((int) Files.getAttribute(folder, "unix:mode") & STICKY) == 0) {
            try {
                Files.setPosixFilePermissions(folder, PRIVATE);
            } catch (FileSystemException e) {
                // only the owner may change the mode; the warnings report other problems
            }
        }
    }

    private static boolean open(Path folder) throws IOException {
        return !PRIVATE.containsAll(Files.getPosixFilePermissions(folder));
    }

    /** Warnings for operators about the data folder and the folders that tools may read, one sentence each. */
    static List<String> warnings(Path folder, Settings.Folders folders) throws IOException {
        List<String> warnings = new ArrayList<>();
        if (open(folder)) {
            warnings.add("the data folder " + folder + " can be opened by other users of this machine: give the server "
                    + "one of its own, mode 0700");
        }
        Path data = folder.toRealPath();
        List<Path> all = new ArrayList<>(folders.allowed());
        all.addAll(folders.ofUser());
        for (Path each : all) {
            Path allowed = Files.exists(each) ? each.toRealPath() : each;
            if (allowed.startsWith(data)) {
                warnings.add("the allowed folder " + each + " lies in the data folder " + folder
                        + ": tools read nothing there");
            } else if (data.startsWith(allowed)) {
                warnings.add("the allowed folder " + each + " contains the data folder " + folder
                        + ": tools do not read that part of it");
            }
        }
        return warnings;
    }
}
