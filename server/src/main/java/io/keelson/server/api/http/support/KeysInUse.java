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
    private final Map<KeyUse.Id, Use> inUse = new ConcurrentHashMap<>();

    /** @param maxWait maximum wait */
    KeysInUse(Duration maxWait) {
        this.maxWait = maxWait;
    }

    /** The use of a key, which ends when it is closed. */
    final class Use implements AutoCloseable {
        private final KeyUse use;
        private final CountDownLatch answered = new CountDownLatch(1);

        private Use(KeyUse use) {
            this.use = use;
        }

        @Override
        public void close() {
            inUse.remove(use.id());
            answered.countDown();
        }
    }

    /**
     * Begins the use of a key when no other request uses it.
     *
     * @throws ApiProblem IDEMPOTENCY_IN_FLIGHT, if the wait was in vain; IDEMPOTENCY_KEY_CONFLICT at once, if another request uses the
     *             key
     */
    Use begin(KeyUse use) throws InterruptedException {
        Use begun = new Use(use);
        long end = System.nanoTime() + maxWait.toNanos();
        for (Use first = inUse.putIfAbsent(use.id(), begun); first != null; first =
                inUse.putIfAbsent(use.id(), begun)) {
            if (!first.use.requestHash().equals(use.requestHash())) {
                throw ApiProblem.of(ErrorCode.IDEMPOTENCY_KEY_CONFLICT,
                        "another request with this key is still in progress");
            }
            if (!first.answered.await(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                throw Idempotency.inFlight("the first request with this key is still in progress");
            }
        }
        return begun;
    }
}
