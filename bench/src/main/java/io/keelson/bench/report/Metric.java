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
    public static final Metric MICROS_PER_STEP = new Metric("µs per step", false);
    public static final Metric STATEMENTS_PER_SECOND = new Metric("statements/s", false);
    public static final Metric RESIDENT_MB = new Metric("resident MB", false);
    public static final Metric READY_SECONDS = new Metric("s until ready", false);
    public static final Metric CLAIMED_SECONDS = new Metric("s until claimed again", false);
    public static final Metric ALL_ENDED_SECONDS = new Metric("s until all had ended", false);
    public static final Metric FAILED_RUNS = new Metric("runs not completed", false);
}
