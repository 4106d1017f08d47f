package io.keelson.server.annex.postgres;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Unpacks a tar stream: plain files, folders and symbolic links with short names, which is all that PostgreSQL's
 * archives hold. Anything else is an error, never skipped. Files get mode 0644 or 0755.
 */
final class TarArchive {

    private static final int BLOCK = 512;

    private final InputStream in;
    private final Path target;

    private TarArchive(InputStream in, Path target) {
        this.in = in;
        this.target = target;
    }

    /** Unpacks everything below {@code target}, which must exist and be empty. */
    static void unpack(InputStream in, Path target) throws IOException {
        var archive = new TarArchive(in, target.toAbsolutePath().normalize());
        byte[] header = in.readNBytes(BLOCK);
        while (header.length == BLOCK && header[0] != 0) {
            archive.entry(header);
            header = in.readNBytes(BLOCK);
        }
    }

    private void entry(byte[] header) throws IOException {
        String name = text(header, 0, 100);
        Path path = target.resolve(name).normalize();
        if (!path.startsWith(target)) {
            throw new IOException("The archive names a file outside itself: " + name);
        }
        Files.createDirectories(path.equals(target) ? target : path.getParent());
        long size = Long.parseLong(text(header, 124, 12).strip(), 8);
        boolean executable = (Integer.parseInt(text(header, 100, 8).strip(), 8) & 0100) != 0;
        switch (header[156]) {
            case '0', 0 -> file(path, size, executable);
            case '2' -> Files.createSymbolicLink(path, Path.of(text(header, 157, 100)));
            case '5' -> Files.createDirectories(path);
            default -> throw new IOException("The archive holds an entry of unknown type: " + name);
        }
    }

    private void file(Path path, long size, boolean executable) throws IOException {
        try (OutputStream out = Files.newOutputStream(path)) {
            copy(out, size);
        }
        in.skipNBytes((BLOCK - size % BLOCK) % BLOCK);
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(executable ? "rwxr-xr-x" : "rw-r--r--"));
    }

    private void copy(OutputStream out, long size) throws IOException {
        var buffer = new byte[1 << 16];
        long left = size;
        while (left > 0) {
            int read = in.read(buffer, 0, (int) Math.min(buffer.length, left));
            if (read < 0) {
                throw new EOFException("The archive ends inside a file");
            }
            out.write(buffer, 0, read);
            left -= read;
        }
    }

    private static String text(byte[] header, int from, int length) {
        int end = from;
        while (end < from + length && header[end] != 0) {
            end++;
        }
        return new String(header, from, end - from, StandardCharsets.UTF_8);
    }
}
