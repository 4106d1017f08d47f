package io.keelson.server.base.expr;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/**
 * Programs of {@code jq-cases.txt}: {@code program => input => values}, each value as its JSON text; {@code -} for no value,
 * {@code !} before the message of a failure.
 */
class JqCasesTest {

    private final Expressions expressions = new Expressions();

    static Stream<String> cases() throws IOException {
        try (InputStream file = JqCasesTest.class.getResourceAsStream("jq-cases.txt")) {
            String text = new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
            return text.lines().filter(line -> line.contains(" => ")).toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void programGivesItsValues(String line) {
        String[] parts = line.split(" => ", -1);
        assertThat(parts).hasSize(3);
        assertThat(values(parts[0], Json.read(parts[1]))).isEqualTo(parts[2]);
    }

    private String values(String program, JsonNode input) {
        try {
            String values = expressions.evaluate(program, input).stream().map(JsonNode::toString)
                    .collect(Collectors.joining(" "));
            return values.isEmpty() ? "-" : values;
        } catch (ExpressionException e) {
            return "! " + e.getMessage();
        }
    }
}
