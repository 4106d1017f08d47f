package io.keelson.server.http.support;

import io.keelson.server.auth.Caller;
import io.keelson.server.workspace.Limits;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Request rate limit per API key: a token bucket of one minute's requests, refilled evenly, on each server
 * for itself. Reports the remaining requests in the headers of draft-ietf-httpapi-ratelimit-headers.
 */
public final class RequestRate {

    private static final int MOST_BUCKETS = 10_000;
    private static final double MINUTE_NANOS = 60e9;
    private static final int MINUTE = 60;

    /** What a request finds. */
    record State(long perMinute, double left) {

        boolean exhausted() {
            return left < 0;
        }

        /** Seconds until another request is let in, at least 1. */
        long retryAfter() {
            return Math.max(1, (long) Math.ceil(-left * MINUTE / perMinute));
        }

        String policy() {
            return "\"requests\";q=" + perMinute + ";w=" + MINUTE;
        }

        String rest() {
            long whole = Math.max(0, (long) Math.floor(left));
            long untilFull = (long) Math.ceil((perMinute - Math.max(0, left)) * MINUTE / perMinute);
            return "\"requests\";r=" + whole + ";t=" + untilFull;
        }
    }

    private record Bucket(double left, long at) {}

    private final LongSupplier nanoTime;
    private final Map<UUID, Bucket> buckets = new ConcurrentHashMap<>();

    public RequestRate(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Counts a request; null where the key has no limit. One too many takes nothing from those to come. */
    @Nullable State count(Caller caller) {
        Long limit = caller.limits().of(Limits.REQUESTS_PER_MINUTE);
        if (limit == null) {
            return null;
        }
        long most = Math.max(1, limit);
        if (buckets.size() >= MOST_BUCKETS) {
            buckets.clear();
        }
        double[] left = new double[1];
        buckets.compute(caller.keyId(), (key, old) -> {
            long now = nanoTime.getAsLong();
            double before = old == null ? most
                    : Math.min(most, old.left + (now - old.at) * most / MINUTE_NANOS);
            left[0] = before - 1;
            return new Bucket(before >= 1 ? left[0] : before, now);
        });
        return new State(most, left[0]);
    }
}
