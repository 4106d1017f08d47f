package io.keelson.server.json;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DeclaredSchemaTest {

    @ParameterizedTest
    @CsvSource({"minimum, 1e30, true", "minimum, -1e30, false", "maximum, 1e30, false", "maximum, -1.5e300, true",
            "exclusiveMinimum, 1e19, true", "exclusiveMaximum, 1e19, false", "exclusiveMaximum, -1e19, true",
            "minimum, 10000000000000000000.5, false", "minimum, 5.0, true", "maximum, 6.0, false"})
    void integerBeyondALongIsCompared(String keyword, String number, boolean fits) {
        DeclaredSchema schema = new DeclaredSchema(Json.object().put("type", "integer").put(keyword, 5));

        assertThat(schema.flaws()).isEmpty();
        assertThat(schema.check(Json.read(number)).isEmpty()).isEqualTo(fits);
    }
}
