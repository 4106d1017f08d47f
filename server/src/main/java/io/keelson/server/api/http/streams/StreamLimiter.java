package io.keelson.server.api.http.streams;

import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ErrorCode;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** How many streams each key holds open on this server. */
final class StreamLimiter {

    /** How many a key may hold open. */
    static final int MAX_STREAMS = 2_000;
    /** How many all keys together may hold open; each costs up to 100 KiB of memory. */
    static final int MAX_IN_ALL = 3_000;

    private final Map<UUID, Integer> open = new ConcurrentHashMap<>();
    private final AtomicInteger all = new AtomicInteger();

    /** Refuses one stream too many. */
    void requireRoom(ApiRequest request) {
        if (open.getOrDefault(request.keyId(), 0) >= MAX_STREAMS) {
            throw ApiProblem.of(ErrorCode.STREAM_LIMIT_REACHED,
                    "a key may have at most " + MAX_STREAMS + " open streams on a server").header("Retry-After", "1");
        }
        if (all.get() >= MAX_IN_ALL) {
            throw ApiProblem.of(ErrorCode.OVERLOADED, "the server has " + MAX_IN_ALL + " open streams,"
                    + " its maximum").header("Retry-After", "1");
        }
    }

    /** A stream, until it is closed. */
    Place take(ApiRequest request) {
        open.merge(request.keyId(), 1, Integer::sum);
        all.incrementAndGet();
        return () -> {
            open.computeIfPresent(request.keyId(), (key, streams) -> streams == 1 ? null : streams - 1);
            all.decrementAndGet();
        };
    }

    interface Place extends AutoCloseable {
        @Override
        void close();
    }
}
