package io.keelson.server.tenant.auth;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Writes files in the data directory for programs on the same machine: {@code api-key} and {@code url}, both mode 0600,
 * each replaced atomically.
 */
public final class LocalCredentials {

    private static final String KEY = "api-key";
    private static final String URL = "url";

    private final Path directory;

    /** @param directory exists and is writable */
    public LocalCredentials(Path directory) {
        this.directory = directory;
    }

    /** The stored key; null when there is none. */
    public @Nullable String readKey() {
        try {
            return Files.readString(directory.resolve(KEY)).strip();
        } catch (NoSuchFileException e) {
            return null;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + directory.resolve(KEY), e);
        }
    }

    public void writeKey(String key) {
        write(KEY, key);
    }

    /** Writes the server's address. */
    public void writeUrl(URI url) {
        write(URL, url.toString());
    }

    /** Removes the address of a server that stops, unless another one has written its own meanwhile. */
    public void removeUrl(URI url) {
        Path file = directory.resolve(URL);
        try {
            if (Files.readString(file).strip().equals(url.toString())) {
                Files.delete(file);
            }
        } catch (NoSuchFileException e) {
            // already gone: the wanted result
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove " + file, e);
        }
    }

    private void write(String name, String line) {
        Path file = directory.resolve(name);
        try {
            Path unfinished = Files.createTempFile(directory, "." + name, ".new",
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            try (FileChannel channel = FileChannel.open(unfinished, Set.of(StandardOpenOption.WRITE))) {
                channel.write(ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8)));
                channel.force(true);
            }
            Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + file, e);
        }
    }
}
