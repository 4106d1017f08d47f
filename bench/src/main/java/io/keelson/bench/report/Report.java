package io.keelson.bench.report;

import io.keelson.bench.contender.ContenderKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/**
 * The results and under what circumstances they came about.
 *
 * @param circumstances name and value, such as PostgreSQL's settings
 */
public record Report(Map<String, String> circumstances, Results results) {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    /** Tables and bars in Markdown, as {@code docs/benchmarks.md} shows them. */
    public String markdown() {
        StringBuilder text = new StringBuilder();
        circumstances.forEach((name, value) -> text.append("- ").append(name).append(": ").append(value).append('\n'));
        text.append('\n').append(new Tables(results, ContenderKind.KEELSON.title()).markdown());
        results.skipped().forEach((what, why) -> text.append("- not measured: ").append(what).append(": ")
                .append(why.lines().findFirst().orElse("")).append('\n'));
        return text.toString();
    }

    /** Writes {@code results.md} and {@code results.json}. */
    public void write(Path folder) throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve("results.md"), markdown());
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("circumstances", circumstances);
        json.put("samples", List.copyOf(results.samples()));
        json.put("not_measured", results.skipped());
        Files.writeString(folder.resolve("results.json"),
                JSON.writerWithDefaultPrettyPrinter().writeValueAsString(json));
    }
}
