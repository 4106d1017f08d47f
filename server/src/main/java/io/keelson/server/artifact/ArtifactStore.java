package io.keelson.server.artifact;

import java.io.IOException;
import java.io.InputStream;

/** Bytes of artifacts, by storage key. What a key stands for is written once and never changed. */
public interface ArtifactStore {

    /**
     * Streams the content to durable storage under a new key, counting and hashing on the way; does not close it.
     *
     * @throws ArtifactRefusedException when the name or the size is not acceptable
     * @throws IOException when storing failed; nothing is left behind then
     */
    StoredArtifact put(ArtifactOwner owner, String name, String contentType, InputStream content) throws IOException;

    /** The bytes; {@link java.nio.file.NoSuchFileException} when the store has none under this key. */
    InputStream open(String storageKey) throws IOException;

    /** Removes the bytes; false when there were none. */
    boolean delete(String storageKey) throws IOException;

    /** A sink for one execution. */
    default ArtifactSink sinkFor(ArtifactOwner owner) {
        return (name, contentType, content) -> put(owner, name, contentType, content);
    }
}
