package io.keelson.server.annex.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.json.Json;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class McpSchemasTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "{'$schema': 'x', '$defs': {'s': {'type': 'string'}}, 'properties': {'a': {'$ref': '#/$defs/s'}}} "
                    + "| {'properties': {'a': {'type': 'string'}}}",
            "{'properties': {'definitions': {'type': 'string'}, '$schema': {'type': 'string'}}} "
                    + "| {'properties': {'definitions': {'type': 'string'}, '$schema': {'type': 'string'}}}",
            "{'default': {'$ref': '#/type', '$schema': 'x', 'definitions': 1}, 'type': 'object'} "
                    + "| {'default': {'$ref': '#/type', '$schema': 'x', 'definitions': 1}, 'type': 'object'}",
            "{'$defs': {'s': {'enum': [{'$ref': 'x'}]}}, 'anyOf': [{'items': {'$ref': '#/$defs/s'}}]} "
                    + "| {'anyOf': [{'items': {'enum': [{'$ref': 'x'}]}}]}",
            "{'properties': {'a': {'$ref': 'https://example.org/x'}}} | {'type': 'object'}",
            "{'properties': {'a': {'$ref': '#'}}} | {'type': 'object'}"})
    void keywordsAreReadByTheirPosition(String schema, String usable) {
        assertThat(McpSchemas.usable(Json.read(schema.replace('\'', '"'))))
                .isEqualTo(Json.read(usable.replace('\'', '"')));
    }
}
