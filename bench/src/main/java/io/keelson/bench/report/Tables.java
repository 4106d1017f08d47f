package io.keelson.bench.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.IntStream;

/** A table in Markdown for each scenario: a row per variant and contender, a column per metric. */
final class Tables {
    private final Results results;
    private final String keelson;

    /** @param keelson the contender that the others are compared with */
    Tables(Results results, String keelson) {
        this.results = results;
        this.keelson = keelson;
    }

    private record Row(String variant, String contender) {}

    String markdown() {
        Map<String, List<Sample>> scenarios = new LinkedHashMap<>();
        results.samples().forEach(s -> scenarios.computeIfAbsent(s.scenario(), name -> new ArrayList<>()).add(s));
        StringBuilder text = new StringBuilder();
        scenarios.forEach((scenario, samples) -> text.append("### ").append(scenario).append("\n\n")
                .append(table(samples)).append('\n'));
        return text.toString();
    }

    private String table(List<Sample> samples) {
        Set<Measure> metrics = new LinkedHashSet<>();
        Map<Row, List<Sample>> rows = new LinkedHashMap<>();
        for (Sample sample : samples) {
            metrics.add(sample.metric());
            rows.computeIfAbsent(new Row(sample.variant(), sample.contender()), row -> new ArrayList<>()).add(sample);
        }
        List<String> header = new ArrayList<>(List.of("", "contender"));
        metrics.forEach(metric -> header.add(metric.name()));
        header.addAll(List.of("Keelson is better by", "others used"));
        List<List<String>> lines = new ArrayList<>(List.of(header));
        rows.keySet().stream().map(Row::variant).distinct().forEach(variant -> rows.forEach((row, of) -> {
            if (row.variant.equals(variant)) {
                lines.add(line(row, of, metrics));
            }
        }));
        return Markdown.table(withoutEmptyColumns(lines));
    }

    /** Removes columns without a value in any row. */
    private static List<List<String>> withoutEmptyColumns(List<List<String>> lines) {
        int[] kept = IntStream.range(0, lines.getFirst().size())
                .filter(i -> lines.stream().skip(1).anyMatch(line -> !line.get(i).isEmpty())).toArray();
        return lines.stream().map(line -> Arrays.stream(kept).mapToObj(line::get).toList()).toList();
    }

    private List<String> line(Row row, List<Sample> samples, Set<Measure> metrics) {
        List<String> cells = new ArrayList<>(List.of(row.variant, row.contender));
        for (Measure metric : metrics) {
            List<Sample> found = samples.stream().filter(s -> s.metric().equals(metric)).toList();
            cells.add(found.isEmpty() ? "" : SampleSummary.of(found).text());
        }
        cells.add(ratio(samples.getFirst()));
        cells.add(others(samples));
        return cells;
    }

    /** @param sample any of a row; its metric is compared */
    private String ratio(Sample sample) {
        OptionalDouble ours = results.median(sample.scenario(), sample.variant(), keelson, sample.metric());
        OptionalDouble theirs =
                results.median(sample.scenario(), sample.variant(), sample.contender(), sample.metric());
        if (sample.contender().equals(keelson) || ours.isEmpty() || theirs.isEmpty()) {
            return "";
        }
        double ratio = ours.getAsDouble() / theirs.getAsDouble();
        return SampleSummary.number(sample.metric().moreIsBetter() ? ratio : 1 / ratio) + " ×";
    }

    private static String others(List<Sample> samples) {
        double most = samples.stream().mapToDouble(Sample::others).filter(Double::isFinite).max().orElse(Double.NaN);
        return Double.isNaN(most) ? "" : Math.round(most) + " %";
    }
}
