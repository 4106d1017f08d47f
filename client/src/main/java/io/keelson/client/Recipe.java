package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A stored mission. JSON components are never Java null: an absent value is a JSON null.
 *
 * @param description the goal of its mission
 * @param version from 1; rises when its mission changes
 * @param inputs its parameters by name, each a JSON Schema; null in a list where they are longer than 16,384 bytes
 * @param templateId of a recipe saved from a run; null otherwise
 * @param originatedFrom the run that it was saved from; null if absent
 * @param mission the shape of a mission file; absent in lists
 * @param steps its tasks as a line; absent in lists and in old versions
 */
public record Recipe(String id, String workspaceId, String name, @Nullable String description, int version,
        JsonNode inputs, JsonNode tags, @Nullable String templateId, @Nullable String originatedFrom,
        @Nullable String createdBy, Instant createdAt, @Nullable String updatedBy, Instant updatedAt, JsonNode mission,
        JsonNode steps, JsonNode executionConfig) {

    public Recipe {
        inputs = Json.orNull(inputs);
        tags = Json.orNull(tags);
        mission = Json.orNull(mission);
        steps = Json.orNull(steps);
        executionConfig = Json.orNull(executionConfig);
    }
}
