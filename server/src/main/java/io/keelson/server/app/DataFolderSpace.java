package io.keelson.server.app;

import io.keelson.server.base.background.BackgroundTask;
import java.io.IOException;
import java.io.UncheckedIOException;
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
    /** Less than these bytes need an operator soon. */
    public static final long LOW_BYTES = 1L << 30;
    /** Less than these bytes need an operator at once. */
    public static final long CRITICAL_BYTES = 100L << 20;

    private static final Logger LOG = LoggerFactory.getLogger(DataFolderSpace.class);
    private static final Duration PERIOD = Duration.ofSeconds(30);

    private final Path folder;
    private final LongSupplier free;
    private final BackgroundTask task = BackgroundTask.every("disk-space", PERIOD, this::look);
    private long bound = Long.MAX_VALUE;

    DataFolderSpace(Path folder) {
        this(folder, () -> free(folder));
    }

    /** @param free reads the bytes that are left */
    DataFolderSpace(Path folder, LongSupplier free) {
        this.folder = folder;
        this.free = free;
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

    /** Logs when another bound is passed. */
    void look() {
        long bytes = free();
        long before = bound;
        bound = bytes < CRITICAL_BYTES ? CRITICAL_BYTES : bytes < LOW_BYTES ? LOW_BYTES : Long.MAX_VALUE;
        if (bound == before) {
            return;
        }
        String left = String.format(Locale.ROOT, "%,d MB", bytes / 1_000_000);
        if (bound == CRITICAL_BYTES) {
            LOG.error("{} left on the disk of {}: free space now. Runs are refused when it is full, and the embedded"
                    + " PostgreSQL ends", left, folder);
        } else if (bound == LOW_BYTES) {
            LOG.warn("{} left on the disk of {}: free space before runs are refused", left, folder);
        } else {
            LOG.info("{} left on the disk of {}", left, folder);
        }
    }

    private static long free(Path folder) {
        try {
            return Files.getFileStore(folder).getUsableSpace();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws InterruptedException {
        task.close();
    }
}
