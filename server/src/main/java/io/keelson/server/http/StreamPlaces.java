package io.keelson.server.http;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** How many streams each key holds open on this server. */
final class StreamPlaces {

    /** How many a key may hold open. */
    static final int MOST_STREAMS = 2_000;
    /** How many all keys together may hold open; each costs up to 100 KiB of memory. */
    static final int MOST_IN_ALL = 3_000;

    private final Map<UUID, Integer> open = new ConcurrentHashMap<>();
    private final AtomicInteger all = new AtomicInteger();

    /** Refuses one stream too many. */
    void requireRoom(Call call) {
        if (open.getOrDefault(call.keyId(), 0) >= MOST_STREAMS) {
            throw Refusal.of(ErrorCode.STREAM_LIMIT_REACHED,
                    "a key may hold " + MOST_STREAMS + " streams open on a server").header("Retry-After", "1");
        }
        if (all.get() >= MOST_IN_ALL) {
            throw Refusal.of(ErrorCode.OVERLOADED, "the server holds " + MOST_IN_ALL + " streams open, the most that"
                    + " it may").header("Retry-After", "1");
        }
    }

    /** A stream, until it is closed. */
    Place take(Call call) {
        open.merge(call.keyId(), 1, Integer::sum);
        all.incrementAndGet();
        return () -> {
            open.computeIfPresent(call.keyId(), (key, streams) -> streams == 1 ? null : streams - 1);
            all.decrementAndGet();
        };
    }

    interface Place extends AutoCloseable {
        @Override
        void close();
    }
}
