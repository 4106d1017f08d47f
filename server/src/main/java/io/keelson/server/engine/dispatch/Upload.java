package io.keelson.server.engine.dispatch;

import io.keelson.server.base.artifact.StoredArtifact;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A file to store.
 *
 * @param retention after the end of its run; null for the default
 * @param sha256 64 hex digits that its bytes must match; null when the worker does not send it
 * @param announced its size in bytes; 0 when the worker does not send it
 */
public record Upload(UUID stepId, int leaseEpoch, String name, String contentType, @Nullable Duration retention,
        @Nullable String sha256, long announced) {

    /** The result of an upload. */
    public sealed interface Reply {

        /** @param id its name in the step's result */
        record Stored(UUID id, StoredArtifact artifact) implements Reply {}

        record NoStep() implements Reply {}

        record StaleLease() implements Reply {}
    }
}
