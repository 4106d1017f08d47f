package io.keelson.client;

import io.keelson.api.run.Archive;
import io.keelson.api.run.ArchiveCheck;
import io.keelson.api.run.Run;
import org.jspecify.annotations.Nullable;

/** Archived runs: their number, the check of their contents, and their return. {@link RunQuery#archived} lists them. */
public final class Archives {

    private final Api api;

    Archives(Api api) {
        this.api = api;
    }

    /** Reads the size of the workspace's archive. */
    public Archive get() {
        return Json.document(api.get("/archive"), Archive.class);
    }

    /**
     * Compares some archived runs with their digests and manifests.
     *
     * @param cursor from {@link ArchiveCheck#nextCursor()}; null for the first runs
     * @param limit maximum number of runs; null for the server's default
     */
    public ArchiveCheck verify(@Nullable String cursor, @Nullable Integer limit) {
        return Json.document(
                api.get(RequestPath.of("/archive/verify").with("cursor", cursor).with("limit", limit).toString()),
                ArchiveCheck.class);
    }

    /** Brings an archived run back into the database. Restoring a run that is not archived changes nothing. */
    public Run restore(String run) {
        return Json.document(
                api.send(Call.post(RequestPath.of("/runs/", run, "/restore"), Json.object()).repeatable()).body(),
                Run.class);
    }
}
