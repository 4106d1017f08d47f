package io.keelson.server.api.http.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.json.Json;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class OpenApiDocumentTest {

    private static final JsonNode DOCUMENT = Json.read("""
            {"components": {
              "schemas": {
                "Name": {"type": "string", "description": "Any name", "maxLength": 200},
                "ShortName": {"$ref": "#/components/schemas/Name", "maxLength": 20, "pattern": "^[a-z]"},
                "Alias": {"$ref": "#/components/schemas/ShortName", "description": "Another name"}},
              "parameters": {
                "Name": {"name": "name", "in": "query", "schema": {"$ref": "#/components/schemas/Alias"}},
                "Other": {"$ref": "#/components/parameters/Name", "description": "Described here"}}}}""");

    private static final String ALIAS = "{\"type\":\"string\",\"description\":\"Another name\",\"maxLength\":20,"
            + "\"pattern\":\"^[a-z]\"}";

    @Test
    void membersBesideEachReferenceOfAChainAreKept() {
        JsonNode operation = Json.read("""
                {"requestBody": {"content": {"application/json": {"schema": {
                  "properties": {"name": {"$ref": "#/components/schemas/Alias"}}}}}}}""");

        assertThat(OpenApiDocument.bodySchema(DOCUMENT, operation).at("/properties/name")).hasToString(ALIAS);
        assertThat(OpenApiDocument.resolved(DOCUMENT, DOCUMENT.at("/components/schemas/Alias"))).hasToString(ALIAS);
    }

    @Test
    void parameterKeepsTheMembersBesideItsReference() {
        JsonNode operation = Json.read("""
                {"parameters": [{"$ref": "#/components/parameters/Other", "required": true}]}""");

        assertThat(OpenApiDocument.parameters(DOCUMENT, Json.object(), operation, "query")).singleElement()
                .hasToString("{\"name\":\"name\",\"in\":\"query\",\"schema\":" + ALIAS
                        + ",\"description\":\"Described here\",\"required\":true}");
        assertThat(DOCUMENT.at("/components/parameters/Name").has("description")).isFalse();
    }

    @Test
    void nodeWithoutReferenceIsReturned() {
        JsonNode name = DOCUMENT.at("/components/schemas/Name");

        assertThat(OpenApiDocument.resolved(DOCUMENT, name)).isSameAs(name);
        assertThat(OpenApiDocument.resolved(DOCUMENT, Json.read("{\"$ref\": \"#/components/schemas/Name\"}")))
                .isSameAs(name);
    }
}
