package io.keelson.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/**
 * Something that Keelson has to reach.
 *
 * @param text what, without its bound
 * @param measured empty when it was not
 * @param atMost whether the bound is the most or the least that will do
 */
public record Bar(String text, OptionalDouble measured, boolean atMost, double bound) {

    /** Whether the value was measured and is within the bound. */
    public boolean met() {
        return measured.isPresent() && (atMost ? measured.getAsDouble() <= bound : measured.getAsDouble() >= bound);
    }

    static String markdown(List<Bar> bars) {
        List<List<String>> lines = new ArrayList<>(List.of(List.of("bar", "bound", "measured", "met?")));
        for (Bar bar : bars) {
            String measured = bar.measured.isPresent() ? SampleSummary.number(bar.measured.getAsDouble()) : "–";
            lines.add(List.of(bar.text, (bar.atMost ? "≤ " : "≥ ") + SampleSummary.number(bar.bound), measured,
                    bar.measured.isEmpty() ? "not measured" : bar.met() ? "yes" : "no"));
        }
        return Markdown.table(lines);
    }
}
