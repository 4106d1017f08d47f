package io.keelson.server.base.json;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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

    @ParameterizedTest
    @ValueSource(strings = {
            "{'type': 'object', 'default': {'status': {'$eq': 'open'}, 'pattern': '(?<!a)b', '$ref': '#/x'}}",
            "{'enum': [{'$ref': 'x', '$id': 'y'}]}", "{'const': {'pattern': '('}}", "{'examples': [{'$schema': 'x'}]}",
            "{'properties': {'pattern': {'type': 'string'}, '$ref': {'type': 'string'}, 'default': {'const': {'$id': 'x'}}}}",
            "{'properties': {'definitions': {'type': 'object'}, 'patternProperties': {'default': {'(': 1}}}}",
            "{'x-data': {'$ref': 'x', 'pattern': '('}}"})
    void dataAndNamesOfMembersAreNoKeywords(String schema) {
        assertThat(new DeclaredSchema(Json.read(schema.replace('\'', '"'))).flaws()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "{'properties': {'a': {'$ref': '#/x'}}}              | /properties/a/$ref",
            "{'items': {'pattern': '(?<!a)b'}}                   | /items/pattern",
            "{'prefixItems': [{}, {'pattern': '('}]}             | /prefixItems/1/pattern",
            "{'anyOf': [{'not': {'$dynamicRef': '#x'}}]}         | /anyOf/0/not/$dynamicRef",
            "{'$defs': {'a/b': {'$id': 'x'}}}                    | /$defs/a~1b/$id",
            "{'patternProperties': {'(': {}}}                    | /patternProperties/(",
            "{'if': {'additionalProperties': {'pattern': '('}}}  | /if/additionalProperties/pattern",
            "{'dependentSchemas': {'default': {'pattern': '('}}} | /dependentSchemas/default/pattern"})
    void keywordsAreFoundInAllSchemas(String schema, String pointer) {
        assertThat(new DeclaredSchema(Json.read(schema.replace('\'', '"'))).flaws())
                .extracting(DeclaredSchema.Flaw::pointer).containsExactly(pointer);
    }
}
