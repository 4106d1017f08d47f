package io.keelson.server.mission.recipe;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A mission that is kept to be run again.
 *
 * @param name unique in its workspace
 * @param version from 1; rises when the mission changes
 * @param mission as it was given: the shape of a mission file
 * @param steps its tasks in the order of their dependencies, as PRD-101 shows them
 * @param executionConfig what PRD-101 shows of its configuration
 * @param originatedFrom the run that it was saved from; null if absent
 */
public record RecipeRow(UUID id, UUID workspaceId, String name, @Nullable String description, int version,
        ObjectNode mission, ArrayNode steps, ObjectNode executionConfig, @Nullable UUID originatedFrom,
        @Nullable String templateId, ArrayNode tags, @Nullable String createdBy, Instant createdAt,
        @Nullable String updatedBy, Instant updatedAt) {}
