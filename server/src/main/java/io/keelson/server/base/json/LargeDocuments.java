package io.keelson.server.base.json;

import java.util.concurrent.Semaphore;
import tools.jackson.databind.JsonNode;

/**
 * Bounds how many threads work on large documents at once: half of the processors, at least one. Virtual threads are not
 * preempted, so large answers to many calls would otherwise keep requests waiting for a processor.
 */
public final class LargeDocuments {
    private static final int LARGE = 64 << 10;
    private static final Semaphore PROCESSORS =
            new Semaphore(Math.max(1, Runtime.getRuntime().availableProcessors() / 2), true);

    private LargeDocuments() {}

    /**
     * Does work on a document. The work must neither wait nor call this method.
     *
     * @param size bytes or characters of the document
     */
    public static <T, X extends Throwable> T work(long size, ScopedValue.CallableOp<T, X> work) throws X {
        if (size < LARGE) {
            return work.call();
        }
        PROCESSORS.acquireUninterruptibly();
        try {
            return work.call();
        } finally {
            PROCESSORS.release();
        }
    }

    /** Does work on a tree, as {@link #work(long, ScopedValue.CallableOp)}. */
    public static <T, X extends Throwable> T work(JsonNode tree, ScopedValue.CallableOp<T, X> work) throws X {
        return work(JsonSize.chars(tree, LARGE), work);
    }
}
