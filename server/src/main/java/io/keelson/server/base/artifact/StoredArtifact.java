package io.keelson.server.base.artifact;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 *
 * An artifact whose bytes are durable.
 *
 * @param name as people see it; unique only within the execution that stored it, and no path
 * @param contentType media type, never blank
 * @param sha256 64 lower-case hex digits over the bytes
 * @param storageKey where the store keeps it; opaque to everyone else
 * @param retention after the end of its run; null for the default
 */
public record StoredArtifact(String name, String contentType, long sizeBytes, String sha256, String storageKey,
        @Nullable Duration retention) {

    /** An artifact with the default retention. */
    public StoredArtifact(String name, String contentType, long sizeBytes, String sha256, String storageKey) {
        this(name, contentType, sizeBytes, sha256, storageKey, null);
    }

    /** A copy with that retention; null for the default. */
    public StoredArtifact keptFor(@Nullable Duration other) {
        return new StoredArtifact(name, contentType, sizeBytes, sha256, storageKey, other);
    }
}
