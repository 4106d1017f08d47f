package io.keelson.server;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.keelson.server.db.Database;
import io.keelson.server.db.Tenancy;
import io.keelson.server.db.TxFunction;
import io.keelson.server.run.queue.WorkerRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import tools.jackson.databind.JsonNode;

/** The tools that workers serve, cached briefly: one query serves all steps of a plan that is being checked. */
final class WorkerToolRegistry {

    /** Shorter than the commit that registers a worker, so that the next submission knows its tools. */
    private static final Duration CACHE_TIME = Duration.ofMillis(5);
    private static final int MAX_CACHED = 10_000;
    private static final UUID EVERYWHERE = new UUID(0, 0);

    private final Database database;
    private final WorkerRegistry workers;
    private final Cache<UUID, Set<String>> toolsByWorkspace =
            Caffeine.newBuilder().maximumSize(MAX_CACHED).expireAfterWrite(CACHE_TIME).build();

    WorkerToolRegistry(Database database, WorkerRegistry workers) {
        this.database = database;
        this.workers = workers;
    }

    /** Those of one workspace's workers. */
    Set<String> in(UUID workspace) {
        return look(workspace, c -> workers.served(c, workspace));
    }

    /** What the workers of one workspace have announced of their tools, by name. */
    Map<String, JsonNode> announced(UUID workspace) {
        return database.withConnection(c -> workers.announced(c, workspace));
    }

    /** Those of all workers. */
    Set<String> everywhere() {
        return Tenancy.allWorkspaces(() -> look(EVERYWHERE, workers::served));
    }

    private Set<String> look(UUID where, TxFunction<Set<String>> read) {
        Set<String> cached = toolsByWorkspace.getIfPresent(where);
        if (cached != null) {
            return cached;
        }
        Set<String> tools = database.withConnection(read);
        toolsByWorkspace.put(where, tools);
        return tools;
    }
}
