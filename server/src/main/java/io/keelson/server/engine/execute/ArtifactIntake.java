package io.keelson.server.engine.execute;

import io.keelson.server.base.artifact.ArtifactOwner;
import io.keelson.server.base.artifact.ArtifactRefusedException;
import io.keelson.server.base.artifact.ArtifactStore;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.store.retention.ArtifactQuota;
import io.keelson.server.engine.store.retention.ArtifactQuota.Item;
import io.keelson.server.engine.store.retention.ArtifactQuota.Left;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * Stores all artifacts, within the quotas of their run and their workspace. Aborts content that exceeds a quota, and
 * reserves the size of complete content before it becomes visible.
 */
public final class ArtifactIntake {
    private final Database database;
    private final ArtifactQuota quota;
    private final ArtifactStore store;
    private final long mostOfRun;

    /** @param mostOfRun maximum bytes of all artifacts of a run together */
    public ArtifactIntake(Database database, ArtifactQuota quota, ArtifactStore store, long mostOfRun) {
        this.database = database;
        this.quota = quota;
        this.store = store;
        this.mostOfRun = mostOfRun;
    }

    public StoredArtifact take(ArtifactOwner owner, String name, String contentType, InputStream content)
            throws IOException {
        return take(owner, name, contentType, content, 0);
    }

    /**
     * Stores it.
     *
     * @param announced minimum bytes that will come, as far as known
     * @throws ArtifactRefusedException the store's, {@code RUN_STORAGE_LIMIT_REACHED}, {@code STORAGE_LIMIT_REACHED};
     *                                  nothing is stored then
     */
    public StoredArtifact take(ArtifactOwner owner, String name, String contentType, InputStream content,
            long announced) throws IOException {
        Left before = database.withConnection(c -> quota.left(c, item(owner, "", 0), mostOfRun));
        check(before, announced);
        StoredArtifact stored = store.put(owner, name, contentType, new Bounded(content, before));
        boolean taken = false;
        try {
            check(database.inTransaction(
                    c -> quota.take(c, item(owner, stored.storageKey(), stored.sizeBytes()), mostOfRun)),
                    stored.sizeBytes());
            taken = true;
            return stored;
        } finally {
            if (!taken) {
                store.delete(stored.storageKey());
            }
        }
    }

    /** Removes content that will not be recorded. */
    public void discard(String storageKey) throws IOException {
        store.delete(storageKey);
        database.runInTransaction(c -> quota.giveBack(c, storageKey));
    }

    private static Item item(ArtifactOwner owner, String key, long size) {
        return new Item(owner.workspaceId(), owner.runId(), owner.stepId(), owner.leaseEpoch(), key, size);
    }

    /** A late execution is refused when its result arrives. */
    private void check(Left left, long bytes) throws ArtifactRefusedException {
        if (left.current() && bytes > left.ofRun()) {
            throw new ArtifactRefusedException("RUN_STORAGE_LIMIT_REACHED", "the artifacts of a run have at most "
                    + mostOfRun + " bytes together, and " + Math.max(0, left.ofRun())
                    + " of them are left for this run; nothing was stored");
        }
        if (left.current() && !left.fits(bytes)) {
            throw new ArtifactRefusedException("STORAGE_LIMIT_REACHED", left.most()
                    + " bytes may be stored in this workspace; nothing was stored");
        }
    }

    /** Reads no more bytes than the quota had left at the start. */
    private final class Bounded extends FilterInputStream {
        private final Left left;
        private long come;

        Bounded(InputStream content, Left left) {
            super(content);
            this.left = left;
        }

        @Override
        public int read() throws IOException {
            int read = super.read();
            return counted(read, read < 0 ? 0 : 1);
        }

        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
            int read = super.read(bytes, from, length);
            return counted(read, Math.max(0, read));
        }

        private int counted(int read, int bytes) throws IOException {
            come += bytes;
            check(left, come);
            return read;
        }
    }
}
