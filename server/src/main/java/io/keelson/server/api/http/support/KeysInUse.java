package io.keelson.server.api.http.support;

import io.keelson.server.engine.store.KeyUse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The idempotency keys of requests in progress at this server. A repeated request waits for the answer to the first one; meanwhile it
 * has no database connection. Thread-safe.
 */
final class KeysInUse {

    private final Duration maxWait;
    /** Each opens when its request is answered. */
    private final Map<KeyUse.Id, CountDownLatch> inUse = new ConcurrentHashMap<>();

    /** @param maxWait maximum wait */
    KeysInUse(Duration maxWait) {
        this.maxWait = maxWait;
    }

    /** The use of a key, which ends when it is closed. */
    final class Use implements AutoCloseable {
        private final KeyUse.Id id;
        private final CountDownLatch answered = new CountDownLatch(1);

        private Use(KeyUse.Id id) {
            this.id = id;
        }

        @Override
        public void close() {
            inUse.remove(id);
            answered.countDown();
        }
    }

    /**
     * Begins the use of a key when no other request uses it.
     *
     * @throws ApiProblem IDEMPOTENCY_IN_FLIGHT, if the wait was in vain
     */
    Use begin(KeyUse.Id id) throws InterruptedException {
        Use use = new Use(id);
        long end = System.nanoTime() + maxWait.toNanos();
        for (CountDownLatch first = inUse.putIfAbsent(id, use.answered); first != null; first =
                inUse.putIfAbsent(id, use.answered)) {
            if (!first.await(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                throw Idempotency.inFlight("the first request with this key is still in progress");
            }
        }
        return use;
    }
}
