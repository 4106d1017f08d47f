package io.keelson.server.work.builtin;

import io.keelson.server.engine.tool.ToolFailure;
import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;

/**
 * Walks a place in an allowed folder, in order of names, never through symbolic links. Excluded entries are not
 * visited, and excluded folders not entered.
 *
 * @param maxDepth folders deeper than this are reported but not entered
 */
record FileWalk(boolean recursive, int maxDepth, List<Glob> exclude) {

    /** More than this and the call is to be narrowed. */
    static final int MAX_VISITED = 1_000_000;

    /**
     * A found entry; {@code open} gives its bytes if it is a file.
     *
     * @param whole whether the place is this file, and no folder that has it
     */
    record Found(String path, BasicFileAttributes attributes, OpenFolder folder, Path name, boolean whole) {
        SeekableByteChannel open() throws IOException {
            return folder.file(name);
        }

        String type() {
            return attributes.isRegularFile() ? "file"
                    : attributes.isDirectory() ? "directory"
                            : attributes.isSymbolicLink() ? "symlink" : "other";
        }
    }

    /** Receives each found entry. */
    interface Visitor {
        void found(Found found) throws ToolFailure, InterruptedException;

        /** An unreadable folder or entry, or an entry whose name is not UTF-8. */
        void unreadable(String path);
    }

    /** A place that is a file is visited under its own name. */
    void visit(AllowedFolders.Place place, Visitor visitor) throws ToolFailure, InterruptedException {
        Run run = new Run(visitor);
        try (OpenFolder folder = place.open()) {
            run.folder(folder, "", 1);
        } catch (NotDirectoryException e) {
            single(place, visitor);
        } catch (IOException e) {
            throw AllowedFolders.unusable(place.relative().toString(), e);
        }
    }

    private static void single(AllowedFolders.Place place, Visitor visitor) throws ToolFailure, InterruptedException {
        Path name = place.relative().getFileName();
        try (OpenFolder folder = place.openParent()) {
            visitor.found(new Found(FileNames.last(place.real()), folder.attributes(name), folder, name, true));
        } catch (IOException e) {
            throw AllowedFolders.unusable(place.relative().toString(), e);
        }
    }

    private final class Run {
        private final Visitor visitor;
        private int visited;

        private Run(Visitor visitor) {
            this.visitor = visitor;
        }

        private void folder(OpenFolder folder, String prefix, int depth) throws ToolFailure, InterruptedException {
            for (OpenFolder.Name name : folder.names()) {
                String path = prefix + name.text();
                if (Glob.any(exclude, path)) {
                    continue;
                }
                step();
                if (!name.utf8()) {
                    visitor.unreadable(path);
                    continue;
                }
                BasicFileAttributes attributes;
                try {
                    attributes = folder.attributes(name.path());
                } catch (IOException e) {
                    visitor.unreadable(path);
                    continue;
                }
                visitor.found(new Found(path, attributes, folder, name.path(), false));
                if (recursive && attributes.isDirectory() && depth < maxDepth) {
                    enter(folder, name.path(), path, depth);
                }
            }
        }

        private void enter(OpenFolder parent, Path name, String path, int depth)
                throws ToolFailure, InterruptedException {
            try (OpenFolder folder = parent.folder(name)) {
                folder(folder, path + "/", depth + 1);
            } catch (IOException e) {
                visitor.unreadable(path);
            }
        }

        private void step() throws ToolFailure, InterruptedException {
            if (Thread.interrupted()) {
                throw new InterruptedException("the walk was interrupted");
            }
            if (++visited > MAX_VISITED) {
                throw ToolFailure.permanent("TOO_MANY_FILES",
                        "there are more than " + MAX_VISITED + " entries; exclude some or choose a folder below");
            }
        }
    }
}
