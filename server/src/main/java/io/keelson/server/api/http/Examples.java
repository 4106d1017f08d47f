package io.keelson.server.api.http;

import io.keelson.server.api.http.support.OpenApiDocument;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Adds the examples of operations to an OpenAPI document. The file {@code openapi/examples/OPERATION.json} has a
 * {@code request} for an operation with a JSON body, and {@code status} and {@code response} for one with a JSON answer.
 */
final class Examples {

    private static final String JSON = "application/json";

    private Examples() {}

    /** The example of an operation; null if absent. */
    static @Nullable JsonNode of(String operationId) {
        try (InputStream file = Examples.class.getResourceAsStream("/openapi/examples/" + operationId + ".json")) {
            return file == null ? null : Json.read(file.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** @param document is changed */
    static void addTo(ObjectNode document) {
        OpenApiDocument.forEachOperation(document, (_, _, _, operation) -> {
            JsonNode example = of(operation.get("operationId").stringValue());
            if (example != null && example.has("request")) {
                put(document, operation, "requestBody", example.get("request"));
            }
            if (example != null && example.has("response")) {
                put(document, (ObjectNode) operation.get("responses"), example.get("status").asString(),
                        example.get("response"));
            }
        });
    }

    /**
     * Replaces a reference by a copy of its target: other operations that share the target have examples of their own.
     */
    private static void put(ObjectNode document, ObjectNode holder, String name, JsonNode example) {
        ObjectNode own = (ObjectNode) OpenApiDocument.resolved(document, holder.get(name)).deepCopy();
        ((ObjectNode) own.get("content").get(JSON)).set("example", example);
        holder.set(name, own);
    }
}
