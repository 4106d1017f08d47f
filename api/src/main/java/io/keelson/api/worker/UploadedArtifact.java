package io.keelson.api.worker;

import io.keelson.api.Shape.Id;

/**
 * A stored artifact of a running step.
 *
 * @param uploadId id by which the result of the step names the artifact
 * @param name name of the file
 * @param contentType media type
 * @param sizeBytes number of bytes
 * @param sha256 hash of the bytes, 64 hex digits
 */
public record UploadedArtifact(@Id String uploadId, String name, String contentType, long sizeBytes, String sha256) {}
