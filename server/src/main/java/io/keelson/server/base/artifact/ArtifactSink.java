package io.keelson.server.base.artifact;

import java.io.IOException;
import java.io.InputStream;

/** Stores the artifacts of one step execution. */
@FunctionalInterface
public interface ArtifactSink {

    /**
     * Streams the content to durable storage; does not close it.
     *
     * @throws ArtifactRefusedException when the name or the size is not acceptable
     * @throws IOException when storing failed; nothing is left behind then
     */
    StoredArtifact put(String name, String contentType, InputStream content) throws IOException;
}
