package io.keelson.server.api.http.support;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Token buckets of one minute's requests, one for each key, refilled evenly, on each server for itself. Thread-safe.
 *
 * @param <K> the holder of a bucket
 */
public final class MinuteBuckets<K> {

    private static final int MAX_BUCKETS = 100_000;
    /** An unused bucket is full again after this time, and equal to a new one. */
    private static final Duration REFILL_TIME = Duration.ofMinutes(1);
    private static final double MINUTE_NANOS = 60e9;
    private static final int MINUTE = 60;

    /** The state of a limit after a request. */
    public record State(long perMinute, double left) {

        public boolean exhausted() {
            return left < 0;
        }

        /** Seconds until another request is let in, at least 1. */
        public long retryAfter() {
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
    private final Cache<K, Bucket> buckets;

    public MinuteBuckets(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.buckets = Caffeine.newBuilder().maximumSize(MAX_BUCKETS).expireAfterAccess(REFILL_TIME)
                .ticker(nanoTime::getAsLong).executor(Runnable::run).build();
    }

    /**
     * Counts a request. One too many takes nothing from those to come.
     *
     * @param most requests a minute, at least 1
     */
    public State count(K key, long most) {
        double[] left = new double[1];
        buckets.asMap().compute(key, (any, old) -> {
            long now = nanoTime.getAsLong();
            double before = old == null ? most
                    : Math.min(most, old.left + (now - old.at) * most / MINUTE_NANOS);
            left[0] = before - 1;
            return new Bucket(before >= 1 ? left[0] : before, now);
        });
        return new State(most, left[0]);
    }
}
