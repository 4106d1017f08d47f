package io.keelson.server.base.artifact;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Bytes of artifacts, by storage key. A key's content is written once, never changed, and complete or absent. The test
 * {@code ArtifactStoreContract} defines the duties of every store.
 */
public interface ArtifactStore {

    /** Handles some of a store's keys. */
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
     * The bytes; {@link java.nio.file.NoSuchFileException} for an unknown key. An open stream stays readable at least
     * for as long as {@link #delete} waits after the artifact was marked.
     */
    InputStream open(String storageKey) throws IOException;

    /**
     * The bytes from that one on, as {@link #open(String)} does.
     *
     * @param from at most the content's size
     */
    default InputStream open(String storageKey, long from) throws IOException {
        InputStream content = open(storageKey);
        try {
            content.skipNBytes(from);
            return content;
        } catch (IOException e) {
            content.close();
            throw e;
        }
    }

    /** Removes the bytes; false when there were none. */
    boolean delete(String storageKey) throws IOException;

    /** All keys whose bytes were stored before that time, some at once, in no order. */
    void storedBefore(Instant time, Keys keys) throws IOException;

    /**
     * Removes content whose storing began before that time and did not end, as after a crash; returns its number. A store that removes
     * it at its next start returns 0.
     */
    default int removeUnfinished(Instant time) throws IOException {
        return 0;
    }

    /** An address of the content that works for a while without a key; null if the store has no links. Does not read the content. */
    default @Nullable URI link(String storageKey, ContentLink terms) throws IOException {
        return null;
    }

    /** The most bytes that one artifact may have. */
    long maxBytes();
}
