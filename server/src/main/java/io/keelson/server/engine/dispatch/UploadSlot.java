package io.keelson.server.engine.dispatch;

import io.keelson.server.base.artifact.ArtifactRefusedException;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.engine.store.retention.UploadSlots;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One of the workspace's upload slots, extended while bytes arrive. */
final class UploadSlot implements AutoCloseable {
    static final String LIMIT_REACHED = "UPLOAD_LIMIT_REACHED";
    private static final Logger LOG = LoggerFactory.getLogger(UploadSlot.class);
    private static final Duration BEAT = UploadSlots.LEASE.dividedBy(6);

    private final Database database;
    private final UploadSlots slots;
    private final UUID workspace;
    private final UUID holder = UUID.randomUUID();
    private long kept = System.nanoTime();

    /** @throws ArtifactRefusedException {@code UPLOAD_LIMIT_REACHED} */
    UploadSlot(Database database, UploadSlots slots, UUID workspace) throws ArtifactRefusedException {
        this.database = database;
        this.slots = slots;
        this.workspace = workspace;
        if (!database.inTransaction(c -> slots.take(c, workspace, holder))) {
            throw new ArtifactRefusedException(LIMIT_REACHED, UploadSlots.MAX_UPLOADS
                    + " artifacts of this workspace are being uploaded; nothing was stored");
        }
    }

    /** The content, as a stream that extends the slot while it is read. */
    InputStream keptBy(InputStream content) {
        return new FilterInputStream(content) {
            @Override
            public int read() throws IOException {
                int read = super.read();
                keep();
                return read;
            }

            @Override
            public int read(byte[] bytes, int from, int length) throws IOException {
                int read = super.read(bytes, from, length);
                keep();
                return read;
            }
        };
    }

    /** Extends the slot. Tolerates a short outage of the database; a slot that was silent for too long is lost. */
    private void keep() throws ArtifactRefusedException {
        long now = System.nanoTime();
        if (now - kept < BEAT.toNanos()) {
            return;
        }
        kept = now;
        try {
            if (!database.withConnection(c -> slots.keep(c, workspace, holder))) {
                throw new ArtifactRefusedException(LIMIT_REACHED,
                        "the upload stood still for too long and lost its place; nothing was stored");
            }
        } catch (SqlFailure e) {
            LOG.warn("could not extend an upload's slot: {}", e.getMessage());
        }
    }

    @Override
    public void close() {
        try {
            database.runInTransaction(c -> slots.leave(c, workspace, holder));
        } catch (SqlFailure e) {
            LOG.warn("could not release an upload slot, it expires in {}: {}", UploadSlots.LEASE,
                    e.getMessage());
        }
    }
}
