package io.keelson.server.work.builtin;

import io.keelson.server.engine.tool.RefusedPlaces;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolPolicy;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Confines the paths of one call to the folders of its workspace, without paths that no tool reads. A path is checked
 * twice: as written, so that no path outside can be probed, and with its symbolic links resolved, so that no link leads
 * out. {@link OpenFolder} checks the opened file once more.
 */
final class AllowedFolders {

    private final List<Path> roots;
    private final RefusedPlaces.Look refused;

    private AllowedFolders(List<Path> roots, RefusedPlaces.Look refused) {
        this.roots = roots;
        this.refused = refused;
    }

    /** @throws ToolFailure {@code PATH_NOT_ALLOWED} when the workspace has no folder */
    static AllowedFolders of(ToolPolicy policy, ToolCall call) throws ToolFailure {
        List<Path> roots = policy.folders().of(call.workspaceId()).stream()
                .map(root -> root.toAbsolutePath().normalize()).toList();
        if (roots.isEmpty()) {
            throw ToolFailure.permanent("PATH_NOT_ALLOWED", "this server allows no folder to this workspace:"
                    + " neither KEELSON_ALLOWED_FOLDERS nor the workspace's own folders name one");
        }
        return new AllowedFolders(roots, policy.refused().look());
    }

    /**
     * An existing path inside of an allowed folder.
     *
     * @param root the real path of the folder
     * @param relative to it, without symbolic links when it was looked at; empty for the folder itself
     * @param refused what may not be opened on the way and below
     */
    record Place(Path root, Path relative, RefusedPlaces.Look refused) {
        Path real() {
            return root.resolve(relative);
        }

        /** The folder itself, to be closed by the caller. */
        OpenFolder open() throws IOException {
            return OpenFolder.open(root, relative, refused);
        }

        /** The folder that it is in, to be closed by the caller. */
        OpenFolder openParent() throws IOException {
            Path parent = relative.getParent();
            return OpenFolder.open(root, parent == null ? Path.of("") : parent, refused);
        }
    }

    /** @throws ToolFailure {@code PATH_NOT_ALLOWED}, {@code PATH_NOT_FOUND}, {@code PATH_UNREADABLE} */
    Place locate(String text) throws ToolFailure {
        Path written = written(text);
        try {
            List<Path> real = realRoots();
            if (refused.covers(written)) {
                throw refused(text);
            }
            if (roots.stream().noneMatch(written::startsWith) && real.stream().noneMatch(written::startsWith)) {
                throw notAllowed(text);
            }
            Path resolved = written.toRealPath();
            if (refused.covers(resolved)) {
                throw refused(text);
            }
            for (Path root : real) {
                if (resolved.startsWith(root)) {
                    return new Place(root, root.relativize(resolved), refused);
                }
            }
            throw notAllowed(text);
        } catch (IOException e) {
            throw unusable(text, e);
        }
    }

    /** Whether a real path lies in an allowed folder and may be read. */
    boolean contains(Path real) throws IOException {
        return !refuses(real) && realRoots().stream().anyMatch(real::startsWith);
    }

    /** Whether a real path is never read. */
    boolean refuses(Path real) {
        return refused.covers(real);
    }

    /** The failure for a path that cannot be opened. */
    static ToolFailure unusable(String text, IOException e) {
        if (e instanceof OpenFolder.RefusedException) {
            return refused(text);
        }
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
                text + " is outside of the folders that are allowed to this workspace (its own, or else KEELSON_ALLOWED_FOLDERS"
                        + " of the server)");
    }

    private static ToolFailure refused(String text) {
        return ToolFailure.permanent("PATH_NOT_ALLOWED", text + " is in a place that no tool reads: the server's data"
                + " folder and key files, /proc, /sys, /dev and the secrets of a container");
    }
}
