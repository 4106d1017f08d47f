package io.keelson.server.work.builtin;

import io.keelson.core.policy.Effects;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.tool.ToolSpec;
import java.time.Duration;
import tools.jackson.databind.JsonNode;

/** Tool specs with their schemas written as JSON text. */
final class Specs {

    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(30);

    private Specs() {}

    static ToolSpec spec(String name, Effects effects, String description, String inputSchema, String outputSchema) {
        return spec(name, effects, description, DEFAULT_TIMEOUT, inputSchema, outputSchema);
    }

    static ToolSpec spec(String name, Effects effects, String description, Duration timeout, String inputSchema,
            String outputSchema) {
        return new ToolSpec(name, description, json(inputSchema), json(outputSchema), timeout, false)
                .having(effects);
    }

    static JsonNode json(String text) {
        return Json.read(text);
    }
}
