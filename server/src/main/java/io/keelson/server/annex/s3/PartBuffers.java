package io.keelson.server.annex.s3;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import software.amazon.awssdk.core.sync.RequestBody;

/**
 * Memory for parts of content under way. A buffer grows with its content; above {@link #SMALL_BYTES} it counts against a bound for the
 * whole server, and other uploads wait for it.
 */
final class PartBuffers {

    static final int PART_BYTES = 8 << 20;
    static final int SMALL_BYTES = 256 << 10;
    private static final int FIRST_BYTES = 16 << 10;
    private static final int MIN_LARGE = 2;
    private static final int MAX_LARGE = 32;
    /** Large buffers have at most this fraction of the heap. */
    private static final int FRACTION = 8;

    private final Semaphore large;

    PartBuffers(long heapBytes) {
        this((int) Math.clamp(heapBytes / FRACTION / PART_BYTES, MIN_LARGE, MAX_LARGE));
    }

    private PartBuffers(int number) {
        this.large = new Semaphore(number);
    }

    Buffer open() {
        return new Buffer();
    }

    /** Memory for one part at a time. */
    final class Buffer implements AutoCloseable {
        private byte[] bytes = new byte[FIRST_BYTES];
        private int size;
        private boolean counted;

        private Buffer() {}

        /** Reads the next part; returns its number of bytes, {@link #PART_BYTES} unless the content ends. */
        int fill(InputStream content) throws IOException {
            size = 0;
            while (true) {
                int read = content.readNBytes(bytes, size, bytes.length - size);
                size += read;
                if (size < bytes.length || size == PART_BYTES) {
                    return size;
                }
                grow();
            }
        }

        private void grow() throws InterruptedIOException {
            if (!counted && bytes.length >= SMALL_BYTES) {
                try {
                    large.acquire();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new InterruptedIOException("interrupted while the content waited for memory");
                }
                counted = true;
            }
            bytes = Arrays.copyOf(bytes, counted ? PART_BYTES : bytes.length * 4);
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
                large.release();
            }
        }
    }
}
