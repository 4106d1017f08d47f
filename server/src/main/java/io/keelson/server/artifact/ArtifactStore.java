package io.keelson.server.artifact;

import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.List;

/**
 * Bytes of artifacts, by storage key. What a key stands for is written once and never changed, and is there whole or not
 * at all. What every store must do stands in {@code ArtifactStoreContract}, a test.
 */
public interface ArtifactStore {

    /** What is done with some of a store's keys. */
    @FunctionalInterface
    interface Keys {
        void take(List<String> keys) throws IOException;
    }

    /**
     * Streams the content to durable storage under a new key, counting and hashing on the way; does not close it.
     *
     * @throws ArtifactRefusedException when the name or the size is not acceptable
     * @throws IOException when storing failed; nothing is left behind then
     */
    StoredArtifact put(ArtifactOwner owner, String name, String contentType, InputStream content) throws IOException;

    /**
     * The bytes; {@link java.nio.file.NoSuchFileException} when the store has none under this key. Who has begun to read
     * can read on, at least for as long as {@link #delete} waits after the artifact was marked.
     */
    InputStream open(String storageKey) throws IOException;

    /** Removes the bytes; false when there were none. */
    boolean delete(String storageKey) throws IOException;

    /** All keys whose bytes were stored before that time, some at once, in no order. */
    void storedBefore(Instant time, Keys keys) throws IOException;

    /** The most bytes that one artifact may have. */
    long maxBytes();
}
