package io.keelson.server.tool.builtin;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
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

    /** A name in the folder: as text, and as the path it is opened by. */
    record Name(String text, Path path) {}

    private final SecureDirectoryStream<Path> stream;

    private OpenFolder(DirectoryStream<Path> stream) throws IOException {
        if (!(stream instanceof SecureDirectoryStream<Path> secure)) {
            stream.close();
            throw new IOException("this file system cannot open files relative to a folder");
        }
        this.stream = secure;
    }

    @SuppressWarnings("StreamResourceLeak") // the folder closes the stream that it is given
    static OpenFolder open(Path root, Path relative) throws IOException {
        OpenFolder folder = new OpenFolder(Files.newDirectoryStream(root));
        for (Path name : relative.toString().isEmpty() ? List.<Path>of() : relative) {
            try (OpenFolder parent = folder) {
                folder = parent.folder(name);
            }
        }
        return folder;
    }

    OpenFolder folder(Path name) throws IOException {
        return new OpenFolder(stream.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS));
    }

    SeekableByteChannel file(Path name) throws IOException {
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
            names.add(new Name(FileNames.last(each), each.getFileName()));
        }
        names.sort(Comparator.comparing(Name::text));
        return names;
    }

    @Override
    public void close() throws IOException {
        stream.close();
    }
}
