package io.keelson.client.worker;

import io.keelson.client.Json;
import org.jspecify.annotations.Nullable;
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

    ObjectNode document() {
        ObjectNode document = Json.object().put("name", name);
        if (description != null) {
            document.put("description", description);
        }
        if (inputSchema != null) {
            document.set("input_schema", Json.of(inputSchema));
        }
        if (effects != null) {
            document.put("effects", effects.wire());
        }
        return document;
    }
}
