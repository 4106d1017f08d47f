package io.keelson.server.base.artifact;

import java.io.IOException;
import java.io.InputStream;

/** A store that accepts content of other stores under their keys, for restores and moves. */
public interface CopyableStore extends ArtifactStore {

    /** Number of bytes of the content; -1 if absent. */
    long size(String storageKey) throws IOException;

    /**
     * Stores content under the key that another store gave it, and replaces earlier content of the key. Does not close the content.
     *
     * @param sha256 64 lower-case hex digits that the bytes must match
     * @throws ContentDamagedException if they do not; nothing is stored then
     * @throws IOException if storing failed
     */
    void copyIn(String storageKey, InputStream content, String sha256) throws IOException;

    /** The folder or the address, for messages. */
    String place();
}
