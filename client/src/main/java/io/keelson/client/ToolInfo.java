package io.keelson.client;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A tool that steps can use.
 *
 * @param inputSchema JSON Schema of the input; a JSON null when the tool has none
 * @param outputSchema JSON Schema of the output; a JSON null when the tool has none
 */
public record ToolInfo(String name, @Nullable String description, JsonNode inputSchema, JsonNode outputSchema) {

    public ToolInfo {
        inputSchema = Json.orNull(inputSchema);
        outputSchema = Json.orNull(outputSchema);
    }
}
