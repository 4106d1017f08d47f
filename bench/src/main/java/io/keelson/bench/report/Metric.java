package io.keelson.bench.report;

/**
 * What a number means.
 *
 * @param name with its unit, as tables show it
 * @param moreIsBetter whether ten are better than five
 */
public record Metric(String name, boolean moreIsBetter) {
    public static final Metric RUNS_PER_SECOND = new Metric("runs/s", true);
    public static final Metric TRANSITIONS_PER_SECOND = new Metric("transitions/s", true);
    public static final Metric P50 = new Metric("p50 ms", false);
    public static final Metric P99 = new Metric("p99 ms", false);
}
