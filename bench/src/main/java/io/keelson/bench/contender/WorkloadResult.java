package io.keelson.bench.contender;

import java.util.Arrays;

/**
 * The result of an order.
 *
 * @param count how many runs (or other units of the scenario) ended
 * @param seconds how long that took
 * @param p50Ms median from submission to end, in milliseconds; 0 where nothing was timed
 * @param p99Ms the same, 99th percentile
 */
public record WorkloadResult(long count, double seconds, double p50Ms, double p99Ms) {

    private static final double NANOS_PER_MILLI = 1e6;

    public static WorkloadResult of(long count, long nanos) {
        return of(count, nanos, new long[0]);
    }

    /** @param latencies in nanoseconds, in any order */
    public static WorkloadResult of(long count, long nanos, long[] latencies) {
        long[] sorted = latencies.clone();
        Arrays.sort(sorted);
        return new WorkloadResult(count, nanos / 1e9, percentile(sorted, 50), percentile(sorted, 99));
    }

    public double perSecond() {
        return count / seconds;
    }

    private static double percentile(long[] sorted, int percent) {
        if (sorted.length == 0) {
            return 0;
        }
        int rank = (int) Math.ceil(percent / 100.0 * sorted.length);
        return sorted[Math.max(1, rank) - 1] / NANOS_PER_MILLI;
    }
}
