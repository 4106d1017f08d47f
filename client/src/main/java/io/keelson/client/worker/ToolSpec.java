package io.keelson.client.worker;

import io.keelson.api.worker.AnnouncedTool;
import io.keelson.client.Json;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A worker's description of a tool, for people and for agents whose models choose among tools.
 *
 * @param description one sentence of at most 4,096 characters; null if absent
 * @param inputSchema JSON Schema of the input, as anything that Jackson writes as an object; null if absent
 * @param effects of a call outside the run; null when the worker does not say it
 * @param gateway {@code true}, or an object with the lists {@code models} and {@code tools}; null for no access to the gateway
 */
public record ToolSpec(String name, @Nullable String description, @Nullable Object inputSchema,
        @Nullable Effects effects, @Nullable Object gateway) {

    /** A tool without access to the gateway. */
    public ToolSpec(String name, @Nullable String description, @Nullable Object inputSchema,
            @Nullable Effects effects) {
        this(name, description, inputSchema, effects, null);
    }

    /** A copy whose steps may use all models that the rules allow, through {@link StepContext#gateway()}. */
    public ToolSpec withGateway() {
        return new ToolSpec(name, description, inputSchema, effects, true);
    }

    /** A copy whose steps may use the named models, as far as the rules allow, through {@link StepContext#gateway()}. */
    public ToolSpec withGateway(List<String> models) {
        return new ToolSpec(name, description, inputSchema, effects, Map.of("models", models));
    }

    /** @throws IllegalArgumentException if the input schema is not an object */
    AnnouncedTool announced() {
        return new AnnouncedTool(name, description, inputSchema == null ? null : object(Json.of(inputSchema)),
                effects == null ? null : effects.wire(), gateway == null ? null : Json.of(gateway));
    }

    private ObjectNode object(JsonNode schema) {
        if (schema instanceof ObjectNode object) {
            return object;
        }
        throw new IllegalArgumentException("the input schema of " + name + " is not an object");
    }
}
