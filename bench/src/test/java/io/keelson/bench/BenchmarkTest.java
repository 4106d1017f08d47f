package io.keelson.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.scenario.Scenario;
import io.keelson.bench.scenario.Scenarios;
import io.keelson.bench.scenario.TenSteps;
import io.keelson.core.Breadth;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The benchmark with tiny sizes: shows that it works. Its figures mean nothing and are not looked at. {@code ./check}
 * executes a seventh of the scenarios in parts of an odd number, {@code ./check --all} every one.
 */
@ExtendWith(Breadth.InFailures.class)
class BenchmarkTest {
    private static final List<Scenario> SCENARIOS = Breadth.of(Scenarios.ALL);

    @TempDir
    Path out;

    @Test
    void everyScenarioMeasuresEveryContenderThatNeedsNoFurtherDownload() throws Exception {
        assumeTrue(SCENARIOS.size() == Scenarios.ALL.size() || Breadth.part() % 2 == 1, "parts of an odd number only");
        StringWriter printed = new StringWriter();
        int status = new CommandLine(new Benchmark()).setOut(new PrintWriter(printed)).execute("--smoke",
                "--scenarios", SCENARIOS.stream().map(Scenario::name).collect(Collectors.joining(",")), "--out",
                out.toString(), "--work", Path.of("target", "smoke").toString());

        assertThat(status).as(printed.toString()).isZero();
        JsonNode results = JsonMapper.builder().build().readTree(Files.readString(out.resolve("results.json")));
        assertThat(results.get("not_measured")).as(printed.toString()).isEmpty();
        assertThat(measured(results)).isEqualTo(expected());
        assertThat(results.get("samples").valueStream().filter(sample -> sample.get("value").isNull()).toList())
                .as("everything measured is a number").isEmpty();
        if (SCENARIOS.equals(Scenarios.ALL)) {
            assertThat(results.get("bars").valueStream().filter(bar -> bar.get("measured").isNull())
                    .map(bar -> bar.get("bar").asString()).toList()).as("bars without a figure")
                    .allMatch(bar -> bar.contains("Restate")
                            || bar.matches(".*(\\b(8|32|128) in flight|(three limited|four limited|four) servers).*"));
        }
        String tables = Files.readString(out.resolve("results.md"));
        assertThat(printed.toString()).contains(tables);
        assertThat(tables).contains("fsync=on", "synchronous_commit=on").contains(titles());
        boolean plotted = SCENARIOS.stream().anyMatch(TenSteps.class::isInstance);
        assertThat(DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(out.resolve("results.svg").toFile())
                .getElementsByTagName("circle").getLength() > 0).as("points in the plot").isEqualTo(plotted);
    }

    private static Set<String> measured(JsonNode results) {
        return results.get("samples").valueStream()
                .map(sample -> sample.get("scenario").asString() + ": " + sample.get("contender").asString())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> expected() {
        Set<String> expected = new TreeSet<>();
        for (Scenario scenario : SCENARIOS) {
            scenario.contenders().stream().filter(kind -> kind != ContenderKind.RESTATE)
                    .forEach(kind -> expected.add(scenario.title() + ": " + kind.title()));
        }
        return expected;
    }

    private static List<String> titles() {
        return SCENARIOS.stream().flatMap(scenario -> scenario.contenders().stream()).distinct()
                .filter(kind -> kind != ContenderKind.RESTATE).map(ContenderKind::title).toList();
    }
}
