package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.LocalTools;
import io.keelson.server.plan.Format;
import io.keelson.server.plan.Mission;
import io.keelson.server.plan.Reading;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Missions that readers will copy must be valid. */
class ExamplesTest {

    private static final Path ROOT = Path.of("..");
    private static final Pattern YAML = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL);

    @ParameterizedTest
    @ValueSource(
            strings = {"examples/repository-report.yaml", "examples/approval-gate.yaml", "examples/failing-well.yaml",
                    "examples/budget.yaml", "examples/signals.yaml", "examples/child-runs.yaml",
                    "examples/nightly-report.yaml",
                    "examples/custom-worker/mission.yaml", "examples/agent/mission.yaml"})
    void examplesAreValid(String file) throws IOException {
        check(Files.readString(ROOT.resolve(file)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"README.md", "docs/getting-started.md"})
    void missionsInTheDocumentsAreValid(String file) throws IOException {
        Matcher blocks = YAML.matcher(Files.readString(ROOT.resolve(file)));
        assertThat(blocks.find()).isTrue();
        do {
            check(blocks.group(1));
        } while (blocks.find());
    }

    private static void check(String yaml) {
        assertThat(new LocalTools(Clock.systemUTC()).reader(Set.of("text.wordcount"))
                .read(yaml.getBytes(StandardCharsets.UTF_8), Format.YAML)).isInstanceOf(Reading.Done.class)
                .extracting(reading -> ((Reading.Done<Mission>) reading).value().plan().tasks()).asList().isNotEmpty();
    }
}
