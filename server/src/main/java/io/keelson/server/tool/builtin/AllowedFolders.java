package io.keelson.server.tool.builtin;

import io.keelson.server.tool.ToolFailure;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Confines paths of calls to the allowed folders. A path is looked at twice: as it is written, so that nothing outside
 * can even be probed for, and with its symbolic links resolved, so that no link leads out.
 */
final class AllowedFolders {

    private final List<Path> roots;

    AllowedFolders(List<Path> roots) {
        this.roots = roots;
    }

    /**
     * An existing path inside of an allowed folder.
     *
     * @param root the real path of the folder
     * @param relative to it, without symbolic links when it was looked at; empty for the folder itself
     */
    record Place(Path root, Path relative) {
        Path real() {
            return root.resolve(relative);
        }
    }

    /** @throws ToolFailure {@code PATH_NOT_ALLOWED}, {@code PATH_NOT_FOUND}, {@code PATH_UNREADABLE} */
    Place locate(String text) throws ToolFailure {
        Path written = written(text);
        try {
            List<Path> real = realRoots();
            if (roots.stream().noneMatch(written::startsWith) && real.stream().noneMatch(written::startsWith)) {
                throw notAllowed(text);
            }
            Path resolved = written.toRealPath();
            for (Path root : real) {
                if (resolved.startsWith(root)) {
                    return new Place(root, root.relativize(resolved));
                }
            }
            throw notAllowed(text);
        } catch (IOException e) {
            throw unusable(text, e);
        }
    }

    /** Whether a real path lies in an allowed folder. */
    boolean contains(Path real) throws IOException {
        return realRoots().stream().anyMatch(real::startsWith);
    }

    /** The failure for a path that cannot be opened. */
    static ToolFailure unusable(String text, IOException e) {
        boolean gone = e instanceof NoSuchFileException || e instanceof NotDirectoryException
                || e instanceof FileSystemException other && other.getReason() != null
                        && other.getReason().matches("Not a directory.*|Too many levels of symbolic links.*");
        return gone
                ? ToolFailure.permanent("PATH_NOT_FOUND", "there is no " + text)
                : ToolFailure.permanent("PATH_UNREADABLE", "cannot read " + text + ": " + e.getClass().getSimpleName());
    }

    private Path written(String text) throws ToolFailure {
        try {
            return FileNames.resolve(roots.getFirst(), text).normalize();
        } catch (IllegalArgumentException e) {
            throw ToolFailure.permanent("PATH_NOT_ALLOWED", "not a path");
        }
    }

    private List<Path> realRoots() throws IOException {
        List<Path> real = new ArrayList<>();
        for (Path root : roots) {
            if (Files.exists(root)) {
                real.add(root.toRealPath());
            }
        }
        return real;
    }

    private static ToolFailure notAllowed(String text) {
        return ToolFailure.permanent("PATH_NOT_ALLOWED",
                text + " is outside of the allowed folders (KEELSON_ALLOWED_FOLDERS of the server)");
    }
}
