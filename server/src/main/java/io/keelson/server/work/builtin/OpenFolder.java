package io.keelson.server.work.builtin;

import io.keelson.server.engine.tool.RefusedPlaces;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * A folder held open, whose contents are reached through it and never through a symbolic link: replacing a folder on
 * the way by a link between check and use leads nowhere.
 */
final class OpenFolder implements Closeable {

    /**
     * A name in the folder: as text, and as the path it is opened by.
     *
     * @param utf8 whether the text names it
     */
    record Name(String text, Path path, boolean utf8) {}

    /** The opened folder is a folder that no tool reads. */
    static final class RefusedException extends IOException {
        private static final long serialVersionUID = 1L;

        RefusedException(Path path) {
            super(path + " is not read");
        }
    }

    private final SecureDirectoryStream<Path> stream;
    private final RefusedPlaces.Look refused;

    private OpenFolder(Path path, DirectoryStream<Path> stream, RefusedPlaces.Look refused) throws IOException {
        if (!(stream instanceof SecureDirectoryStream<Path> secure)) {
            stream.close();
            throw new IOException("this file system cannot open files relative to a folder");
        }
        this.stream = secure;
        this.refused = refused;
        try {
            check(path, secure.getFileAttributeView(BasicFileAttributeView.class).readAttributes());
        } catch (IOException e) {
            secure.close();
            throw e;
        }
    }

    /** Checks the opened folder itself: a link swapped in after the path was checked leads nowhere. */
    private void check(Path path, BasicFileAttributes attributes) throws RefusedException {
        if (refused.is(attributes)) {
            throw new RefusedException(path);
        }
    }

    @SuppressWarnings("StreamResourceLeak") // the folder closes the stream that it is given
    static OpenFolder open(Path root, Path relative, RefusedPlaces.Look refused) throws IOException {
        OpenFolder folder = new OpenFolder(root, Files.newDirectoryStream(root), refused);
        for (Path name : relative.toString().isEmpty() ? List.<Path>of() : relative) {
            try (OpenFolder parent = folder) {
                folder = parent.folder(name);
            }
        }
        return folder;
    }

    /**
     * A folder in this one. Only folders and links are opened: opening a pipe waits for a writer, and on another file
     * {@code newDirectoryStream} closes one descriptor twice, which may be that of another thread by then (JDK-8392711).
     */
    OpenFolder folder(Path name) throws IOException {
        BasicFileAttributes attributes = attributes(name);
        if (!attributes.isDirectory() && !attributes.isSymbolicLink()) {
            throw new NotDirectoryException(name.toString());
        }
        return new OpenFolder(name, stream.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS), refused);
    }

    SeekableByteChannel file(Path name) throws IOException {
        check(name, attributes(name));
        return stream.newByteChannel(name, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
    }

    BasicFileAttributes attributes(Path name) throws IOException {
        return stream.getFileAttributeView(name, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                .readAttributes();
    }

    /** All names, sorted. Can be asked for once. */
    List<Name> names() {
        List<Name> names = new ArrayList<>();
        for (Path each : stream) {
            names.add(new Name(FileNames.last(each), each.getFileName(), FileNames.isUtf8(each)));
        }
        names.sort(Comparator.comparing(Name::text));
        return names;
    }

    @Override
    public void close() throws IOException {
        stream.close();
    }
}
