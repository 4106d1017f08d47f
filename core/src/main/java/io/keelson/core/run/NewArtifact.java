package io.keelson.core.run;

import org.jspecify.annotations.Nullable;

/**
 * An artifact whose content is already stored and whose record is to be written with the step's result.
 *
 * @param name unique per run attempt
 * @param sizeBytes length of the content
 * @param sha256 lower-case hex
 * @param storageKey where the artifact store keeps the content
 * @param retentionSeconds for how long it is kept after the end of its run; null for as long as others
 */
public record NewArtifact(String name, String contentType, long sizeBytes, String sha256, String storageKey,
        @Nullable Long retentionSeconds) {

    /** One that is kept for as long as others. */
    public NewArtifact(String name, String contentType, long sizeBytes, String sha256, String storageKey) {
        this(name, contentType, sizeBytes, sha256, storageKey, null);
    }
}
