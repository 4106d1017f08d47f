package io.keelson.devmodel;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Answers have the shapes of the providers' documentation. Each fixture names the page that its shape was compared with. No
 * provider was reached.
 */
class WireFixturesTest {

    static Stream<Path> fixtures() throws Exception {
        Path folder = Path.of(Objects.requireNonNull(WireFixturesTest.class.getResource("fixtures")).toURI());
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("fixtures")
    void answersHaveTheDocumentedShape(Path file) throws Exception {
        ObjectNode fixture = (ObjectNode) Json.read(Files.readAllBytes(file));
        assertThat(fixture.path("source").asString("")).startsWith("https://");
        ObjectNode script = Json.object();
        script.putArray("rules").addObject().set("answer", fixture.get("answer"));

        HttpResponse<String> response;
        try (TestModel model = new TestModel(script.toString())) {
            response = model.post(fixture.get("path").stringValue(), fixture.get("request").toString());
        }

        JsonNode found = body(response);
        assertThat(response.statusCode()).isEqualTo(fixture.get("status").intValue());
        assertThat(found).isEqualTo(fixture.get("response"));
    }

    /** A document, or the events with their names; ids without their unique part. */
    private static JsonNode body(HttpResponse<String> response) {
        String text = response.body().replaceAll("[0-9a-f]{8}_\\d+", "KEY");
        if (!response.headers().firstValue("content-type").orElseThrow().startsWith("text/event-stream")) {
            return Json.read(text);
        }
        ArrayNode events = Json.array();
        for (String event : text.split("\n\n")) {
            ObjectNode each = events.addObject();
            event.lines().forEach(line -> {
                String[] field = line.split(": ", 2);
                each.set(field[0], field[1].startsWith("{") ? Json.read(field[1]) : Json.string(field[1]));
            });
        }
        return events;
    }
}
