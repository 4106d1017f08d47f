package io.keelson.client;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A tool that steps can use.
 *
 * @param source {@code builtin}, {@code worker} or {@code mcp}
 * @param effects {@code read}, {@code idempotent}, {@code once} or {@code destructive}; null when the tool says nothing
 * @param inputSchema JSON Schema of the input; a JSON null when the tool has none
 * @param outputSchema JSON Schema of the output; a JSON null when the tool has none
 * @param mcp for a tool of an MCP server; null for all others
 */
public record ToolInfo(String name, @Nullable String description, String source, @Nullable String effects,
        JsonNode inputSchema, JsonNode outputSchema, @Nullable Mcp mcp) {

    /**
     * The origin of an MCP server's tool.
     *
     * @param server as the workspace names it
     * @param state {@code allowed}; {@code changed} while its calls are held back; {@code gone} when the server has it no more
     * @param trusted whether the annotations of the server's tools count
     */
    public record Mcp(String server, String state, boolean trusted) {}

    public ToolInfo {
        inputSchema = Json.orNull(inputSchema);
        outputSchema = Json.orNull(outputSchema);
    }
}
