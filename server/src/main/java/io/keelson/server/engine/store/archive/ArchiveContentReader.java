package io.keelson.server.engine.store.archive;

import io.keelson.server.base.artifact.ArtifactRules;
import io.keelson.server.base.artifact.ArtifactStore;
import io.keelson.server.engine.store.archive.ArchiveException.Problem;
import io.keelson.server.engine.store.archive.RunArchive.Place;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.NoSuchFileException;
import java.util.HexFormat;

/** Reads the contents of archived runs from the artifact store, and compares them with their digests. */
public final class ArchiveContentReader {

    private final ArtifactStore store;

    public ArchiveContentReader(ArtifactStore store) {
        this.store = store;
    }

    /**
     * The content of a run.
     *
     * @throws ArchiveException if the store does not have it as it was written
     */
    public byte[] read(Place run) throws IOException {
        byte[] content;
        try (InputStream object = store.open(run.storageKey(), run.firstByte())) {
            content = object.readNBytes(run.sizeBytes());
        } catch (NoSuchFileException e) {
            throw new ArchiveException(Problem.MISSING,
                    "the artifact store lacks the object of run " + run.runId() + ": " + run.storageKey());
        } catch (EOFException e) {
            throw damaged(run);
        }
        if (!HexFormat.of().formatHex(ArtifactRules.sha256().digest(content)).equals(run.sha256())) {
            throw damaged(run);
        }
        return content;
    }

    private static ArchiveException damaged(Place run) {
        return new ArchiveException(Problem.DAMAGED, "the object of run " + run.runId()
                + " in the artifact store is not the one that was written: " + run.storageKey());
    }
}
