package io.keelson.bench.report;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Several rounds' numbers of one kind. */
record SampleSummary(double median, double least, double most) {

    /** @param samples at least one */
    static SampleSummary of(List<Sample> samples) {
        double[] sorted = samples.stream().mapToDouble(Sample::value).sorted().toArray();
        int middle = sorted.length / 2;
        double median = sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
        return new SampleSummary(median, sorted[0], Arrays.stream(sorted).max().orElseThrow());
    }

    /** Median with the range behind it, where there is one. */
    String text() {
        return least == most ? number(median) : number(median) + " (" + number(least) + "–" + number(most) + ")";
    }

    /** With as many digits as make sense. */
    static String number(double value) {
        String form = Math.abs(value) >= 100 ? "%,.0f" : Math.abs(value) >= 10 ? "%.1f" : "%.2f";
        return String.format(Locale.ROOT, form, value);
    }
}
