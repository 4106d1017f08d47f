package io.keelson.server;

import io.keelson.server.db.Database;
import io.keelson.server.db.Tenancy;
import io.keelson.server.db.TxFunction;
import io.keelson.server.run.queue.WorkerRegistry;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** The tools that workers serve, cached briefly: one query serves all steps of a plan that is being checked. */
final class WorkerToolRegistry {

    private static final long CACHE_NANOS = 100_000_000;
    private static final int MAX_CACHED = 10_000;
    private static final UUID EVERYWHERE = new UUID(0, 0);

    private record Look(long at, Set<String> tools) {}

    private final Database database;
    private final WorkerRegistry workers;
    private final Map<UUID, Look> looks = new ConcurrentHashMap<>();

    WorkerToolRegistry(Database database, WorkerRegistry workers) {
        this.database = database;
        this.workers = workers;
    }

    /** Those of one workspace's workers. */
    Set<String> in(UUID workspace) {
        return look(workspace, c -> workers.served(c, workspace));
    }

    /** Those of all workers. */
    Set<String> everywhere() {
        return Tenancy.allWorkspaces(() -> look(EVERYWHERE, workers::served));
    }

    private Set<String> look(UUID where, TxFunction<Set<String>> read) {
        long now = System.nanoTime();
        Look look = looks.get(where);
        if (look == null || now - look.at >= CACHE_NANOS) {
            look = new Look(now, database.withConnection(read));
            if (looks.size() >= MAX_CACHED) {
                looks.clear();
            }
            looks.put(where, look);
        }
        return look.tools;
    }
}
