package io.keelson.server.engine.upkeep;

import io.keelson.server.base.db.Database;
import io.keelson.server.engine.store.IdempotencyKeys;
import io.keelson.server.tenant.secret.SecretStore;

/** Deletes expired idempotency keys, secrets and artifacts. */
public final class ExpiredData {
    private static final int KEY_BATCH_SIZE = 1_000;

    private final Database database;
    private final IdempotencyKeys keys;
    private final SecretStore secrets;
    private final ArtifactSweeper artifacts;

    public ExpiredData(Database database, IdempotencyKeys keys, SecretStore secrets, ArtifactSweeper artifacts) {
        this.database = database;
        this.keys = keys;
        this.secrets = secrets;
        this.artifacts = artifacts;
    }

    /** Contacts the artifact store last, because it may be slow or fail. */
    void delete() {
        deleteKeys();
        secrets.forget();
        artifacts.expire();
        artifacts.remove();
    }

    /** Deletes files without a record. Lists the whole artifact store. */
    void deleteOrphans() {
        artifacts.removeOrphans();
    }

    private void deleteKeys() {
        int deleted;
        do {
            deleted = database.withConnection(c -> keys.purge(c, KEY_BATCH_SIZE));
        } while (deleted == KEY_BATCH_SIZE);
    }
}
