package io.keelson.core.run;

import org.jspecify.annotations.Nullable;

/**
 *
 * An artifact whose content is already stored and whose record is to be written with the step's result.
 *
 * @param name unique per run attempt
 * @param sizeBytes length of the content
 * @param sha256 lower-case hex
 * @param storageKey where the artifact store keeps the content
 * @param retentionSeconds retention after the end of its run; null for the default
 */
public record NewArtifact(String name, String contentType, long sizeBytes, String sha256, String storageKey,
        @Nullable Long retentionSeconds) {

    /** An artifact with the default retention. */
    public NewArtifact(String name, String contentType, long sizeBytes, String sha256, String storageKey) {
        this(name, contentType, sizeBytes, sha256, storageKey, null);
    }
}
