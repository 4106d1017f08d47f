package io.keelson.server.api.http.support;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.keelson.api.tenant.LimitName;
import io.keelson.server.tenant.auth.Caller;
import java.time.Duration;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Request rate limit per API key: a token bucket of one minute's requests, refilled evenly, on each server
 * for itself. Reports the remaining requests in the headers of draft-ietf-httpapi-ratelimit-headers.
 */
public final class RequestRate {

    private static final int MAX_BUCKETS = 100_000;
    /** An unused bucket is full again after this time, and equal to a new one. */
    private static final Duration REFILL_TIME = Duration.ofMinutes(1);
    private static final double MINUTE_NANOS = 60e9;
    private static final int MINUTE = 60;

    /** The state of a limit after a request. */
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
    private final Cache<UUID, Bucket> buckets;

    public RequestRate(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.buckets = Caffeine.newBuilder().maximumSize(MAX_BUCKETS).expireAfterAccess(REFILL_TIME)
                .ticker(nanoTime::getAsLong).executor(Runnable::run).build();
    }

    /** Counts a request; null where the key has no limit. One too many takes nothing from those to come. */
    @Nullable State count(Caller caller) {
        Long limit = caller.limits().of(LimitName.REQUESTS_PER_MINUTE);
        if (limit == null) {
            return null;
        }
        long most = Math.max(1, limit);
        double[] left = new double[1];
        buckets.asMap().compute(caller.keyId(), (key, old) -> {
            long now = nanoTime.getAsLong();
            double before = old == null ? most
                    : Math.min(most, old.left + (now - old.at) * most / MINUTE_NANOS);
            left[0] = before - 1;
            return new Bucket(before >= 1 ? left[0] : before, now);
        });
        return new State(most, left[0]);
    }
}
