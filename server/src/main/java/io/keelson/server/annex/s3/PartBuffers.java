package io.keelson.server.annex.s3;

import io.keelson.server.base.artifact.ArtifactRefusedException;
import io.keelson.server.base.artifact.StoreBusyException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import software.amazon.awssdk.core.sync.RequestBody;

/**
 * Memory for parts of content under way. A buffer grows with its content; above {@link #SMALL_BYTES} it counts against a bound for the
 * whole server, and other uploads wait for it. A quarter of the large buffers is out of reach of each single workspace, and a slow
 * upload loses its buffer when others wait.
 */
final class PartBuffers {

    static final int PART_BYTES = 8 << 20;
    static final int SMALL_BYTES = 256 << 10;
    static final String TOO_SLOW = "UPLOAD_TOO_SLOW";

    private static final int FIRST_BYTES = 16 << 10;
    private static final int MIN_LARGE = 2;
    private static final int MAX_LARGE = 32;
    /** Large buffers have at most this fraction of the heap. */
    private static final int FRACTION = 8;
    /** This fraction of the large buffers, and one at least, is left to other workspaces. */
    private static final int LEFT_TO_OTHERS = 4;

    /**
     * Bounds in time.
     *
     * @param pause maximum wait for a large buffer. It is shorter than the lease of an upload, which shows no sign of life meanwhile
     * @param part maximum time in which the content of a large buffer arrives while others wait: 140 KB a second
     */
    record Times(Duration pause, Duration part) {
        static final Times DEFAULTS = new Times(Duration.ofSeconds(90), Duration.ofSeconds(60));
    }

    private final int share;
    private final Times times;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Map<UUID, Integer> held = new HashMap<>();
    private final Map<UUID, Integer> waiting = new HashMap<>();
    private int free;

    PartBuffers(long heapBytes) {
        this((int) Math.clamp(heapBytes / FRACTION / PART_BYTES, MIN_LARGE, MAX_LARGE), Times.DEFAULTS);
    }

    /** @param number of large buffers, at least 2 */
    PartBuffers(int number, Times times) {
        this.free = number;
        this.share = number - Math.max(1, number / LEFT_TO_OTHERS);
        this.times = times;
    }

    Buffer open(UUID workspace) {
        return new Buffer(workspace);
    }

    private void acquire(UUID workspace) throws IOException {
        lock.lock();
        try {
            waiting.merge(workspace, 1, Integer::sum);
            long left = times.pause.toNanos();
            while (free == 0 || held.getOrDefault(workspace, 0) >= share) {
                if (left <= 0) {
                    throw new StoreBusyException("the memory for uploads is in use by other uploads "
                            + (free == 0 ? "to this server" : "of this workspace") + "; nothing was stored");
                }
                left = changed.awaitNanos(left);
            }
            free--;
            held.merge(workspace, 1, Integer::sum);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while the content waited for memory");
        } finally {
            less(waiting, workspace);
            lock.unlock();
        }
    }

    private void release(UUID workspace) {
        lock.lock();
        try {
            free++;
            less(held, workspace);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Whether another upload waits for a buffer that an upload of the workspace holds. */
    private boolean hasWaiting(UUID workspace) {
        lock.lock();
        try {
            return waiting.containsKey(workspace) || free == 0 && !waiting.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    private static void less(Map<UUID, Integer> numbers, UUID workspace) {
        numbers.computeIfPresent(workspace, (key, number) -> number == 1 ? null : number - 1);
    }

    /** Memory for one part at a time. */
    final class Buffer implements AutoCloseable {
        private final UUID workspace;
        private byte[] bytes = new byte[FIRST_BYTES];
        private int size;
        private boolean counted;
        private long begun;

        private Buffer(UUID workspace) {
            this.workspace = workspace;
        }

        /** Reads the next part; returns its number of bytes, {@link #PART_BYTES} unless the content ends. */
        int fill(InputStream content) throws IOException {
            size = 0;
            begun = System.nanoTime();
            while (size < PART_BYTES) {
                if (size == bytes.length) {
                    grow();
                }
                int read = content.read(bytes, size, bytes.length - size);
                if (read < 0) {
                    break;
                }
                size += read;
                if (counted && size < PART_BYTES) {
                    requireFast();
                }
            }
            return size;
        }

        private void grow() throws IOException {
            if (!counted && bytes.length >= SMALL_BYTES) {
                acquire(workspace);
                counted = true;
                begun = System.nanoTime();
            }
            bytes = Arrays.copyOf(bytes, counted ? PART_BYTES : bytes.length * 4);
        }

        private void requireFast() throws ArtifactRefusedException {
            long passed = System.nanoTime() - begun;
            if (passed > times.part.toNanos() && hasWaiting(workspace)) {
                throw new ArtifactRefusedException(TOO_SLOW, "other uploads wait, and this one has sent " + size
                        + " bytes in " + TimeUnit.NANOSECONDS.toSeconds(passed) + " s; nothing was stored");
            }
        }

        byte[] bytes() {
            return bytes;
        }

        /** The part as the body of a request, which can be sent again. */
        RequestBody body() {
            byte[] part = bytes;
            int length = size;
            return RequestBody.fromContentProvider(() -> new ByteArrayInputStream(part, 0, length), length,
                    "application/octet-stream");
        }

        @Override
        public void close() {
            if (counted) {
                counted = false;
                release(workspace);
            }
        }
    }
}
