package io.keelson.bench.report;

import io.keelson.bench.contender.ContenderKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import tools.jackson.databind.json.JsonMapper;

/**
 * The results and under what circumstances they came about.
 *
 * @param circumstances name and value, such as PostgreSQL's settings
 */
public record BenchmarkReport(Map<String, String> circumstances, Results results) {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    /** Bars and tables in Markdown, as {@code docs/internals/benchmarks.md} shows them. */
    public String markdown(List<Bar> bars) {
        StringBuilder text = new StringBuilder();
        allCircumstances()
                .forEach((name, value) -> text.append("- ").append(name).append(": ").append(value).append('\n'));
        text.append("\n### Bars\n\n").append(Bar.markdown(bars)).append('\n');
        text.append(new Tables(results, ContenderKind.KEELSON.title()).markdown());
        results.skipped().forEach((what, why) -> text.append("- not measured: ").append(what).append(": ")
                .append(why.lines().findFirst().orElse("")).append('\n'));
        return text.toString();
    }

    /**
     * Writes {@code results.md}, {@code results.json} and {@code results.svg}.
     *
     * @param bars the targets of the figures
     * @param plotted the scenario whose runs per second are drawn
     * @param variants along the bottom of the plot
     */
    public void write(Path folder, List<Bar> bars, String plotted, List<String> variants) throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve("results.md"), markdown(bars));
        Files.writeString(folder.resolve("results.json"), json(bars));
        Map<String, List<OptionalDouble>> lines = new LinkedHashMap<>();
        results.samples().stream().filter(sample -> sample.scenario().equals(plotted))
                .filter(sample -> sample.metric().equals(Measure.RUNS_PER_SECOND)).map(Sample::contender).distinct()
                .forEach(contender -> lines.put(contender, variants.stream()
                        .map(variant -> results.median(plotted, variant, contender, Measure.RUNS_PER_SECOND))
                        .toList()));
        Files.writeString(folder.resolve("results.svg"), new Plot(plotted + ", runs/s", variants, lines).svg());
    }

    private Map<String, String> allCircumstances() {
        Map<String, String> all = new LinkedHashMap<>(circumstances);
        all.putAll(results.circumstances());
        return all;
    }

    /** Writes the results as JSON; values that are not numbers in JSON are null. */
    private String json(List<Bar> bars) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("circumstances", allCircumstances());
        json.put("bars", bars.stream().map(bar -> {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("bar", bar.text());
            one.put("measured", bar.measured().isPresent() ? bar.measured().getAsDouble() : null);
            one.put("met", bar.met());
            return one;
        }).toList());
        json.put("samples", results.samples().stream().map(BenchmarkReport::json).toList());
        json.put("not_measured", results.skipped());
        return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(json);
    }

    private static Map<String, Object> json(Sample sample) {
        Map<String, Object> one = new LinkedHashMap<>();
        one.put("scenario", sample.scenario());
        one.put("variant", sample.variant());
        one.put("contender", sample.contender());
        one.put("metric", sample.metric().name());
        one.put("round", sample.round());
        one.put("value", Double.isFinite(sample.value()) ? sample.value() : null);
        one.put("others_percent", Double.isFinite(sample.others()) ? sample.others() : null);
        return one;
    }
}
