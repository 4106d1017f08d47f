package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code openapi-schemas.json} has the schemas of the API's records. Run with {@code -Dupdate.docs=true} to write it. */
class ApiSchemasDocTest {

    private static final Path FILE = Path.of("src", "main", "resources", "openapi-schemas.json");

    @Test
    void fileHasTheSchemasOfAllRecords() throws Exception {
        RecordDocs docs = RecordDocs.read();
        Map<String, ObjectNode> schemas = new TreeMap<>();
        docs.records().forEach(record -> assertThat(
                schemas.put(RecordSchemas.name(record), RecordSchemas.of(record, docs)))
                .as("two records of this name: " + record).isNull());
        String wanted = text(schemas);
        if (Boolean.getBoolean("update.docs")) {
            Files.writeString(FILE, wanted);
        }
        assertThat(Files.readString(FILE)).as("run this test with -Dupdate.docs=true").isEqualTo(wanted);
    }

    /** One line per member, so that a change of one is a change of one line. */
    private static String text(Map<String, ObjectNode> schemas) {
        return schemas.entrySet().stream()
                .map(schema -> "  " + Json.string(schema.getKey()) + ": {\n" + keywords(schema.getValue()) + "\n  }")
                .collect(Collectors.joining(",\n", "{\n", "\n}\n"));
    }

    private static String keywords(ObjectNode schema) {
        return schema.propertyStream().map(keyword -> "    " + Json.string(keyword.getKey()) + ": "
                + (keyword.getKey().equals("properties") ? members(keyword.getValue()) : keyword.getValue()))
                .collect(Collectors.joining(",\n"));
    }

    private static String members(JsonNode properties) {
        return properties.propertyStream()
                .map(member -> "      " + Json.string(member.getKey()) + ": " + member.getValue())
                .collect(Collectors.joining(",\n", "{\n", "\n    }"));
    }

    /** A schema that is written twice would hide the generated one. */
    @Test
    void noSchemaIsAlsoWrittenByHand() {
        Set<String> generated = Set.copyOf(OpenApi.generated().propertyNames());
        assertThat(OpenApi.written().at("/components/schemas").propertyNames()).doesNotContainAnyElementsOf(generated);
    }
}
