package io.keelson.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.scenario.Scenario;
import io.keelson.bench.scenario.Scenarios;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The whole benchmark with tiny sizes: shows that it works. What it measures so says nothing and is not looked at. */
class BenchmarkTest {

    @TempDir
    Path out;

    @Test
    void everyScenarioMeasuresEveryContenderThatNeedsNoFurtherDownload() throws Exception {
        StringWriter printed = new StringWriter();
        int status = new CommandLine(new Benchmark()).setOut(new PrintWriter(printed)).execute("--smoke", "--out",
                out.toString(), "--work", Path.of("target", "smoke").toString());

        assertThat(status).as(printed.toString()).isZero();
        JsonNode results = JsonMapper.builder().build().readTree(Files.readString(out.resolve("results.json")));
        assertThat(results.get("not_measured")).as(printed.toString()).isEmpty();
        assertThat(measured(results)).isEqualTo(expected());
        assertThat(results.get("samples").valueStream().filter(sample -> sample.get("value").isNull()).toList())
                .as("everything measured is a number").isEmpty();
        assertThat(results.get("bars").valueStream().filter(bar -> bar.get("measured").isNull())
                .map(bar -> bar.get("bar").asString()).toList()).as("bars without a figure")
                .allMatch(bar -> bar.contains("Restate") || bar.contains("32 in flight"));
        String tables = Files.readString(out.resolve("results.md"));
        assertThat(printed.toString()).contains(tables);
        assertThat(tables).contains("fsync=on", "synchronous_commit=on").contains(titles());
        assertThat(DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(out.resolve("results.svg").toFile())
                .getElementsByTagName("circle").getLength()).as("points of the plot").isPositive();
    }

    private static Set<String> measured(JsonNode results) {
        return results.get("samples").valueStream()
                .map(sample -> sample.get("scenario").asString() + ": " + sample.get("contender").asString())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> expected() {
        Set<String> expected = new TreeSet<>();
        for (Scenario scenario : Scenarios.ALL) {
            scenario.contenders().stream().filter(kind -> kind != ContenderKind.RESTATE)
                    .forEach(kind -> expected.add(scenario.title() + ": " + kind.title()));
        }
        return expected;
    }

    private static List<String> titles() {
        return Arrays.stream(ContenderKind.values()).filter(kind -> kind != ContenderKind.RESTATE)
                .map(ContenderKind::title).toList();
    }
}
