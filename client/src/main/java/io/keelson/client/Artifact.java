package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A file that a step left behind.
 *
 * @param name as people see it; several artifacts of a run may bear the same
 * @param sizeBytes length of the content in bytes
 * @param sha256 64 lower-case hex digits over the content
 * @param expiresAt until when it is kept; null while its run has not ended
 * @param deletedAt since when its content is not to be had any more; null while it is
 */
public record Artifact(String id, String runId, @Nullable String taskId, @Nullable String stepId, String name,
        String contentType, long sizeBytes, @Nullable String sha256, @Nullable Instant createdAt,
        @Nullable Instant expiresAt, @Nullable Instant deletedAt) {}
