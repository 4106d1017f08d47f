package io.keelson.server.engine.upkeep;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TxFunction;
import io.keelson.server.engine.store.IdempotencyKeys;
import io.keelson.server.engine.store.queue.ResultCache;
import io.keelson.server.tenant.secret.SecretStore;

/** Deletes expired idempotency keys, results of steps, secrets and artifacts. */
public final class ExpiredData {
    private static final int BATCH_SIZE = 1_000;

    private final Database database;
    private final IdempotencyKeys keys;
    private final ResultCache results;
    private final SecretStore secrets;
    private final ArtifactSweeper artifacts;

    public ExpiredData(Database database, IdempotencyKeys keys, ResultCache results, SecretStore secrets,
            ArtifactSweeper artifacts) {
        this.database = database;
        this.keys = keys;
        this.results = results;
        this.secrets = secrets;
        this.artifacts = artifacts;
    }

    /** Contacts the artifact store last, because it may be slow or fail. */
    void delete() {
        inBatches(c -> keys.purge(c, BATCH_SIZE));
        inBatches(c -> results.purge(c, BATCH_SIZE));
        secrets.forget();
        artifacts.expire();
        artifacts.remove();
    }

    /** Deletes files without a record. Lists the whole artifact store. */
    void deleteOrphans() {
        artifacts.removeOrphans();
    }

    private void inBatches(TxFunction<Integer> delete) {
        int deleted;
        do {
            deleted = database.withConnection(delete);
        } while (deleted == BATCH_SIZE);
    }
}
