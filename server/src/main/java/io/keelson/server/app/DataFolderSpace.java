package io.keelson.server.app;

import io.keelson.server.base.background.BackgroundTask;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reports when little space is left on the disk of the data folder, which has the embedded database and the artifacts. */
public final class DataFolderSpace implements AutoCloseable {
    private static final long LOW_BYTES = 1L << 30;
    private static final long CRITICAL_BYTES = 100L << 20;

    private static final Logger LOG = LoggerFactory.getLogger(DataFolderSpace.class);
    private static final Duration PERIOD = Duration.ofSeconds(30);

    private final Path folder;
    private final LongSupplier free;
    private final LongSupplier size;
    private final BackgroundTask task = BackgroundTask.every("disk-space", PERIOD, this::look);
    private long bound = Long.MAX_VALUE;

    DataFolderSpace(Path folder) {
        this(folder, () -> read(folder, FileStore::getUsableSpace), () -> read(folder, FileStore::getTotalSpace));
    }

    /**
     * @param free reads the bytes that are left
     * @param size reads the bytes of the disk
     */
    DataFolderSpace(Path folder, LongSupplier free, LongSupplier size) {
        this.folder = folder;
        this.free = free;
        this.size = size;
    }

    /** Fewer free bytes on a disk of that size need an operator soon. A small disk may be small on purpose. */
    public static long lowBytes(long size) {
        return Math.min(LOW_BYTES, size / 5);
    }

    /** Fewer free bytes on a disk of that size need an operator at once. */
    public static long criticalBytes(long size) {
        return Math.min(CRITICAL_BYTES, size / 50);
    }

    /** Looks now, and from then on in the background. */
    DataFolderSpace start() {
        look();
        task.start();
        return this;
    }

    List<BackgroundTask> tasks() {
        return List.of(task);
    }

    /** Bytes that this process may still write. */
    long free() {
        return free.getAsLong();
    }

    /** Bytes of the disk. */
    long size() {
        return size.getAsLong();
    }

    /** Logs when another bound is passed. */
    void look() {
        long bytes = free();
        long before = bound;
        long low = lowBytes(size());
        long critical = criticalBytes(size());
        bound = bytes < critical ? critical : bytes < low ? low : Long.MAX_VALUE;
        if (bound == before) {
            return;
        }
        String left = String.format(Locale.ROOT, "%,d MB", bytes / 1_000_000);
        if (bound == critical) {
            LOG.error("{} left on the disk of {}: free space now. Runs are refused when it is full, and the embedded"
                    + " PostgreSQL ends", left, folder);
        } else if (bound == low) {
            LOG.warn("{} left on the disk of {}: free space before runs are refused", left, folder);
        } else {
            LOG.info("{} left on the disk of {}", left, folder);
        }
    }

    @FunctionalInterface
    private interface Bytes {
        long of(FileStore store) throws IOException;
    }

    private static long read(Path folder, Bytes bytes) {
        try {
            return bytes.of(Files.getFileStore(folder));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws InterruptedException {
        task.close();
    }
}
