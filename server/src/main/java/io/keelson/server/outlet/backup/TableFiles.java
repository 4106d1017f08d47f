package io.keelson.server.outlet.backup;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

/**
 * The files of one table, written row by row: COPY's text format, compressed. A new file begins after {@link #FILE_BYTES}, so that an
 * interrupted restore repeats little.
 */
final class TableFiles implements AutoCloseable {

    /** Before compression. */
    static final long FILE_BYTES = 64L << 20;
    private static final int BUFFER_BYTES = 64 << 10;

    private final BackupFolder folder;
    private final String table;
    private final Appendable sums;
    private final List<String> names = new ArrayList<>();
    private MessageDigest digest = Digests.sha256();
    private OutputStream current = OutputStream.nullOutputStream();
    private long inFile;
    private long rows;
    private long bytes;

    /** @param sums receives a line for each file */
    TableFiles(BackupFolder folder, String table, Appendable sums) {
        this.folder = folder;
        this.table = table;
        this.sums = sums;
    }

    void add(byte[] row) throws IOException {
        if (names.isEmpty() || inFile >= FILE_BYTES) {
            next();
        }
        current.write(row);
        rows++;
        inFile += row.length;
        bytes += row.length;
    }

    private void next() throws IOException {
        close();
        String name = String.format(Locale.ROOT, "%s/%s.%04d.copy.gz", BackupFolder.TABLES, table, names.size() + 1);
        digest = Digests.sha256();
        current = new BufferedOutputStream(new GZIPOutputStream(
                new DigestOutputStream(Files.newOutputStream(folder.file(name)), digest), BUFFER_BYTES) {
            {
                def.setLevel(Deflater.BEST_SPEED);
            }
        }, BUFFER_BYTES);
        names.add(name);
        inFile = 0;
    }

    /** Ends the current file, if there is one. */
    @Override
    public void close() throws IOException {
        current.close();
        if (!names.isEmpty() && inFile > 0) {
            Path file = folder.file(names.getLast());
            BackupFolder.sync(file);
            sums.append(Digests.line(Digests.hex(digest), names.getLast()));
            inFile = 0;
        }
        current = OutputStream.nullOutputStream();
    }

    /** The written files and their rows. */
    Manifest.Table summary(List<String> columns) {
        return new Manifest.Table(table, columns, rows, bytes, names);
    }
}
