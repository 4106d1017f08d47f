package io.keelson.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.DefaultValue;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The guide shows the example, which other tests execute, and the settings. */
class GuideTest {
    private static final Path ROOT = Path.of("..");
    private static final Path EXAMPLE = ROOT.resolve("examples/spring-boot");

    private static String guide() throws IOException {
        return Files.readString(ROOT.resolve("docs/guide/spring-boot.md"));
    }

    private static String words(String text) {
        return text.strip().replaceAll("\\s+", " ");
    }

    @Test
    void guideShowsPartsOfTheExample() throws IOException {
        StringBuilder example = new StringBuilder();
        try (Stream<Path> files = Files.walk(EXAMPLE)) {
            for (Path each : files.filter(file -> file.toString().matches(".*\\.(java|xml)")).sorted().toList()) {
                example.append(words(Files.readString(each))).append(' ');
            }
        }

        assertThat(Pattern.compile("```(?:java|xml)\\n(.*?)```", Pattern.DOTALL).matcher(guide()).results()
                .map(block -> words(block.group(1)))).hasSize(11)
                .allSatisfy(block -> assertThat(example).contains(block));
    }

    /** The settings of a record, with their defaults as text. */
    private static void settings(String prefix, Class<?> type, Map<String, String> found) {
        for (RecordComponent each : type.getRecordComponents()) {
            String name = prefix + "." + each.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
            DefaultValue value = parameter(type, each.getName());
            if (each.getType().isRecord()) {
                settings(name, each.getType(), found);
            } else {
                found.put(name, value == null ? "" : String.join(",", value.value()));
            }
        }
    }

    private static DefaultValue parameter(Class<?> type, String name) {
        return Stream.of(type.getDeclaredConstructors()[0].getParameters())
                .filter(each -> each.getName().equals(name)).findFirst().orElseThrow()
                .getAnnotation(DefaultValue.class);
    }

    @Test
    void settingsAreDescribedForEditorsAndReaders() throws IOException {
        Map<String, String> settings = new TreeMap<>();
        settings("keelson", KeelsonProperties.class, settings);
        JsonNode described = JsonMapper.shared().readTree(
                Files.readString(Path.of("src/main/resources/META-INF/spring-configuration-metadata.json")));
        Map<String, String> forEditors = new TreeMap<>();
        for (JsonNode each : described.path("properties")) {
            forEditors.put(each.path("name").asString(), each.path("defaultValue").asString(""));
        }

        assertThat(forEditors).isEqualTo(settings);
        String guide = guide();
        assertThat(settings).allSatisfy((name, value) -> assertThat(guide)
                .containsPattern(
                        "\\| `" + Pattern.quote(name) + "` \\| " + (value.isEmpty() ? "" : "`" + value + "`")));
    }
}
