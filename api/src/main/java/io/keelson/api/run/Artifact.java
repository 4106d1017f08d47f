package io.keelson.api.run;

import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Text;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A file that a step left behind.
 *
 * @param id id of the resource
 * @param runId id of the run
 * @param taskId task that stored it
 * @param stepId step that stored it
 * @param attempt the run's attempt
 * @param name unique in the attempt
 * @param contentType media type
 * @param sizeBytes size in bytes
 * @param sha256 SHA-256 of the stored bytes, in hexadecimal
 * @param createdAt time of its creation
 * @param expiresAt end of its retention; null until its run has ended
 * @param deletedAt time of its deletion; null before it
 */
public record Artifact(@Id String id, @Id String runId, @Id String taskId, @Id String stepId,
        @Range(min = 1) int attempt, String name, String contentType, @Range(min = 0) long sizeBytes,
        @Text(pattern = "^[0-9a-f]{64}$") String sha256, Instant createdAt, @Nullable Instant expiresAt,
        @Nullable Instant deletedAt) {}
