package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.app.OfflineToolCatalog;
import io.keelson.server.mission.plan.Format;
import io.keelson.server.mission.plan.ReadResult;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** Missions that readers will copy must be valid. */
class ExamplesTest {

    private static final Path ROOT = Path.of("..");
    private static final Pattern MISSION = Pattern.compile("\\A(#.*\n)*name:");
    private static final Pattern YAML = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL);

    /** All missions: the definition of an agent has a slug before its name. */
    static Stream<Path> examples() throws IOException {
        try (Stream<Path> files = Files.walk(ROOT.resolve("examples"))) {
            List<Path> missions = new ArrayList<>();
            for (Path file : files.filter(each -> each.toString().endsWith(".yaml"))
                    .filter(each -> !each.toString().contains("node_modules")).sorted().toList()) {
                if (MISSION.matcher(Files.readString(file)).find()) {
                    missions.add(file);
                }
            }
            return missions.stream();
        }
    }

    /** The file of a trigger has its mission as a member, and an example of its inputs. */
    @ParameterizedTest
    @MethodSource("examples")
    void examplesAreValid(Path file) throws IOException {
        JsonNode read = new YAMLMapper().readTree(Files.readString(file));
        if (read.has("source")) {
            check(((ObjectNode) read.get("mission")).set("input", read.at("/example/body")).toString());
        } else {
            check(Files.readString(file));
        }
    }

    /** The folder is the first allowed one, and the inputs of a run are printed. */
    @ParameterizedTest
    @ValueSource(strings = {"agent", "evaluation", "goal", "model-agent"})
    void scriptsGiveMissionsNoAbsolutePath(String example) throws IOException {
        Path folder = ROOT.resolve("examples").resolve(example);
        assertThat(Files.readString(folder.resolve("run.sh"))).contains("KEELSON_ALLOWED_FOLDERS=\"$folder\"")
                .doesNotContain("--input path=");
        assertThat(Files.readString(folder.resolve("mission.yaml"))).contains("path: {type: string, default: \".\"}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"README.md", "docs/guide/getting-started.md"})
    void missionsInTheDocumentsAreValid(String file) throws IOException {
        Matcher blocks = YAML.matcher(Files.readString(ROOT.resolve(file)));
        assertThat(blocks.find()).isTrue();
        do {
            check(blocks.group(1));
        } while (blocks.find());
    }

    private static void check(String yaml) {
        assertThat(new OfflineToolCatalog(Clock.systemUTC())
                .reader(Set.of("text.wordcount", "plan", "weather.agent", "mail.send"))
                .read(yaml.getBytes(StandardCharsets.UTF_8), Format.YAML)).isInstanceOf(ReadResult.Ok.class);
    }
}
