package io.keelson.server.tool.builtin;

import io.keelson.server.json.Json;
import io.keelson.server.tool.ToolSpec;
import java.time.Duration;
import tools.jackson.databind.JsonNode;

/** Tool specs with their schemas written as JSON text. */
final class Specs {

    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(30);

    private Specs() {}

    static ToolSpec spec(String name, String description, String inputSchema, String outputSchema) {
        return spec(name, description, DEFAULT_TIMEOUT, inputSchema, outputSchema);
    }

    static ToolSpec spec(String name, String description, Duration timeout, String inputSchema, String outputSchema) {
        return new ToolSpec(name, description, json(inputSchema), json(outputSchema), timeout, false);
    }

    static JsonNode json(String text) {
        return Json.read(text);
    }
}
