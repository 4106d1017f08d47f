package io.keelson.client.worker;

import io.keelson.api.worker.AnnouncedTool;
import io.keelson.client.Json;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A worker's description of a tool, for people and for agents whose models choose among tools.
 *
 * @param description one sentence of at most 4,096 characters; null if absent
 * @param inputSchema JSON Schema of the input, as anything that Jackson writes as an object; null if absent
 * @param effects of a call outside the run; null when the worker does not say it
 */
public record ToolSpec(String name, @Nullable String description, @Nullable Object inputSchema,
        @Nullable Effects effects) {

    /** @throws IllegalArgumentException if the input schema is not an object */
    AnnouncedTool announced() {
        return new AnnouncedTool(name, description, inputSchema == null ? null : object(Json.of(inputSchema)),
                effects == null ? null : effects.wire(), null);
    }

    private ObjectNode object(JsonNode schema) {
        if (schema instanceof ObjectNode object) {
            return object;
        }
        throw new IllegalArgumentException("the input schema of " + name + " is not an object");
    }
}
