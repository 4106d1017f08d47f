package io.keelson.server.api.http.streams;

import io.keelson.server.api.http.support.ShutdownSignal;
import io.keelson.server.base.db.SqlFailure;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Database reads of event streams, with limited concurrency, so that streams cannot take all connections shared with
 * other requests. A stream that gets no permit waits and retries.
 */
public final class StreamReads {

    private static final Logger LOG = LoggerFactory.getLogger(StreamReads.class);
    private static final int AT_ONCE = 4;
    private static final Duration PAUSE = Duration.ofMillis(500);

    private final Semaphore permits = new Semaphore(AT_ONCE, true);
    private final ShutdownSignal shutdown;

    public StreamReads(ShutdownSignal shutdown) {
        this.shutdown = shutdown;
    }

    /** Asks once. */
    <T> T once(Supplier<T> question) throws InterruptedException {
        permits.acquire();
        try {
            return question.get();
        } finally {
            permits.release();
        }
    }

    /**
     * Asks until the database answers.
     *
     * @throws InterruptedException when the server stops meanwhile
     */
    <T> T patiently(Supplier<T> question) throws InterruptedException {
        while (true) {
            try {
                return once(question);
            } catch (SqlFailure failure) {
                if (!failure.unavailable()) {
                    throw failure;
                }
                LOG.debug("event stream is waiting for the database", failure);
            }
            if (shutdown.await(PAUSE)) {
                throw new InterruptedException("the server is stopping");
            }
        }
    }
}
