package io.keelson.cli.view;

import java.time.Duration;

/**
 * How far a run is, as one line. Only tasks that completed count as done.
 *
 * @param done tasks that completed
 * @param failed tasks that failed
 * @param dropped tasks that were skipped or cancelled
 * @param total all tasks, which may be 0 while the plan is not known
 */
record ProgressBar(int done, int failed, int dropped, int total) {

    private static final int WIDEST = 40;
    private static final int NARROWEST = 5;

    /** @param elapsed since the run's start, without the time for which it had ended */
    String line(Duration elapsed, int columns, Style style) {
        int percent = total == 0 ? 0 : (int) (100L * done / total);
        String numbers = "  " + AmountText.count(done) + "/" + AmountText.count(total, "task") + "  " + percent + "%  "
                + AmountText.duration(elapsed);
        String failures = failed == 0 ? "" : "  " + AmountText.count(failed) + " failed";
        String left = dropped == 0 ? "" : "  " + AmountText.count(dropped) + " not done";
        int bar = Math.min(WIDEST, columns - numbers.length() - failures.length() - left.length());
        String text = numbers + style.red(failures) + style.dim(left);
        if (bar < NARROWEST) {
            return TerminalText.fit(numbers.strip() + style.red(failures) + style.dim(left), columns, style);
        }
        int good = part(bar, done);
        int bad = part(bar, done + failed) - good;
        return style.green((style.unicode() ? "━" : "=").repeat(good))
                + style.red((style.unicode() ? "━" : "x").repeat(bad))
                + style.dim((style.unicode() ? "─" : "-").repeat(bar - good - bad)) + text;
    }

    private int part(int bar, int tasks) {
        return total == 0 ? 0 : (int) ((long) bar * tasks / total);
    }
}
