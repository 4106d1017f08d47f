package io.keelson.cli.view;

import java.time.Duration;

/** One line that shows how far a run is. */
final class ProgressBar {

    private static final int WIDEST = 40;
    private static final int NARROWEST = 5;

    private ProgressBar() {}

    /**
     * @param done of {@code total}, which may be 0 while the plan is not known
     * @param elapsed since the run's start
     */
    static String line(int done, int total, int failed, Duration elapsed, int columns, Style style) {
        int percent = total == 0 ? 0 : (int) (100L * done / total);
        String numbers = "  " + Amounts.count(done) + "/" + Amounts.count(total, "task") + "  " + percent + "%  "
                + Amounts.duration(elapsed);
        String failures = failed == 0 ? "" : "  " + Amounts.count(failed) + " failed";
        int bar = Math.min(WIDEST, columns - numbers.length() - failures.length());
        if (bar < NARROWEST) {
            return Cells.fit(numbers.strip() + style.red(failures), columns, style);
        }
        int filled = total == 0 ? 0 : (int) ((long) bar * done / total);
        return style.green((style.unicode() ? "━" : "=").repeat(filled))
                + style.dim((style.unicode() ? "─" : "-").repeat(bar - filled)) + numbers + style.red(failures);
    }
}
