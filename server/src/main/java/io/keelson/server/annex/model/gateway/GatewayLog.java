package io.keelson.server.annex.model.gateway;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.queue.GatewayTokens.Lease;
import io.keelson.server.engine.store.queue.LeaseHeartbeats;
import java.util.List;

/** Writes lines about the requests of a program into the log of its step. */
final class GatewayLog {
    private final Database database;
    private final LeaseHeartbeats heartbeats = new LeaseHeartbeats(DbClock.DATABASE);

    GatewayLog(Database database) {
        this.database = database;
    }

    void line(Lease lease, int attempt, String text) {
        database.runInTransaction(c -> heartbeats.log(c,
                List.of(new LeaseHeartbeats.Log(lease.stepId(), lease.epoch(), attempt, List.of(text)))));
    }
}
