package io.keelson.client;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A tool that steps can use.
 *
 * @param effects {@code read}, {@code idempotent}, {@code once} or {@code destructive}; null when the tool says nothing
 * @param inputSchema JSON Schema of the input; a JSON null when the tool has none
 * @param outputSchema JSON Schema of the output; a JSON null when the tool has none
 */
public record ToolInfo(String name, @Nullable String description, @Nullable String effects, JsonNode inputSchema,
        JsonNode outputSchema) {

    public ToolInfo {
        inputSchema = Json.orNull(inputSchema);
        outputSchema = Json.orNull(outputSchema);
    }
}
