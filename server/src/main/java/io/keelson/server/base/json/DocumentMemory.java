package io.keelson.server.base.json;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The memory for documents from outside: their bytes, and the trees made of them. A workspace may hold as much as it leaves
 * free, so that a workspace that holds its maximum still leaves half to the others. Thread-safe.
 */
public final class DocumentMemory {
    private static final int PART_FOR_ANSWERS = 5;
    private static final Duration WAIT_TIMEOUT = Duration.ofSeconds(30);

    /** For answers of other systems to this process, whose heap all servers in it share. */
    private static final DocumentMemory ANSWERS =
            new DocumentMemory(Runtime.getRuntime().maxMemory() / PART_FOR_ANSWERS);
    private static final ScopedValue<Share> CURRENT = ScopedValue.newInstance();

    private final long maxBytes;
    private final Map<@Nullable UUID, Long> taken = new HashMap<>();
    private long total;
    private int waiting;

    /** The workspace or the process has too many documents in memory. */
    public static final class FullException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        FullException() {
            super("too many large documents are in memory", null, false, false);
        }
    }

    public DocumentMemory(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /**
     * Does work that reads answers of other systems. It waits for memory for at most 30 seconds, and releases the
     * memory at its end.
     */
    public static <T, X extends Throwable> T forAnswers(UUID workspace, ScopedValue.CallableOp<T, X> work) throws X {
        try (Share share = ANSWERS.share(workspace, WAIT_TIMEOUT)) {
            return share.within(work);
        }
    }

    /** Reads within the share of this thread's work; outside of such work within a share that ends with the reading. */
    static <T, X extends Throwable> T reading(Reading<T, X> reading) throws X {
        if (CURRENT.isBound()) {
            return reading.within(CURRENT.get());
        }
        try (Share share = ANSWERS.share(null, WAIT_TIMEOUT)) {
            return reading.within(share);
        }
    }

    /**
     * Reserves memory of the share of this thread's work; outside of such work, nothing.
     *
     * @throws FullException when there is not so much
     */
    public static void take(long bytes) {
        if (CURRENT.isBound()) {
            CURRENT.get().take(bytes);
        }
    }

    /** Gives back memory of the share of this thread's work. */
    static void giveBack(long bytes) {
        if (CURRENT.isBound()) {
            CURRENT.get().giveBack(bytes);
        }
    }

    /** This thread's work with another system, whose answer another thread reads: that thread reads it within the same share. */
    public static Elsewhere elsewhere() {
        Share share = CURRENT.isBound() ? CURRENT.get() : null;
        return new Elsewhere() {
            @Override
            public <T, X extends Throwable> T read(ScopedValue.CallableOp<T, X> work) throws X {
                return share == null ? work.call() : share.within(work);
            }
        };
    }

    /** Reads on another thread. */
    public interface Elsewhere {
        <T, X extends Throwable> T read(ScopedValue.CallableOp<T, X> work) throws X;
    }

    /** Reads one document. */
    @FunctionalInterface
    interface Reading<T, X extends Throwable> {
        T within(Share share) throws X;
    }

    /**
     * A share without memory yet.
     *
     * @param workspace null for work of none
     * @param timeout maximum time to wait for memory
     */
    public Share share(@Nullable UUID workspace, Duration timeout) {
        return new Share(workspace, timeout);
    }

    /** Threads that wait for memory. */
    synchronized int waiting() {
        return waiting;
    }

    /** The memory of one request or one step. Thread-safe. */
    public final class Share implements AutoCloseable {
        private @Nullable UUID workspace;
        private final Duration timeout;
        private long held;
        private boolean closed;

        private Share(@Nullable UUID workspace, Duration timeout) {
            this.workspace = workspace;
            this.timeout = timeout;
        }

        /** Counts the memory for a workspace, before any is taken. */
        public void assign(UUID owner) {
            synchronized (DocumentMemory.this) {
                if (held > 0) {
                    throw new IllegalStateException("memory was taken before");
                }
                workspace = owner;
            }
        }

        /** Does work with this share as the current one, on whichever thread. */
        public <T, X extends Throwable> T within(ScopedValue.CallableOp<T, X> work) throws X {
            return ScopedValue.where(CURRENT, this).call(work);
        }

        /**
         * Reserves memory.
         *
         * @throws FullException when there is not so much, or the share is closed; nothing is reserved then
         */
        public void take(long bytes) {
            synchronized (DocumentMemory.this) {
                if (held + bytes > maxBytes / 2) {
                    throw new FullException();
                }
                long deadline = System.nanoTime() + timeout.toNanos();
                waiting++;
                try {
                    while (!closed && !fits(bytes)) {
                        await(deadline - System.nanoTime());
                    }
                } finally {
                    waiting--;
                }
                if (closed) {
                    throw new FullException();
                }
                taken.merge(workspace, bytes, Long::sum);
                total += bytes;
                held += bytes;
            }
        }

        private boolean fits(long bytes) {
            return taken.getOrDefault(workspace, 0L) + bytes <= maxBytes - total - bytes;
        }

        private void await(long nanos) {
            if (nanos <= 0) {
                throw new FullException();
            }
            try {
                DocumentMemory.this.wait(nanos / 1_000_000 + 1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new FullException();
            }
        }

        public void giveBack(long bytes) {
            synchronized (DocumentMemory.this) {
                if (!closed) {
                    release(bytes);
                }
            }
        }

        private void release(long bytes) {
            held -= bytes;
            total -= bytes;
            taken.computeIfPresent(workspace, (id, own) -> own == bytes ? null : own - bytes);
            DocumentMemory.this.notifyAll();
        }

        /** Gives all back; returns how much it was. */
        public long giveBackAll() {
            synchronized (DocumentMemory.this) {
                long all = held;
                giveBack(all);
                return all;
            }
        }

        /** Gives all back. The share takes no more. */
        @Override
        public void close() {
            synchronized (DocumentMemory.this) {
                release(held);
                closed = true;
            }
        }
    }
}
