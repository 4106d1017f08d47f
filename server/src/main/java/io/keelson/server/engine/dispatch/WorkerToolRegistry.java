package io.keelson.server.engine.dispatch;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.base.db.TxFunction;
import io.keelson.server.engine.store.queue.WorkerRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import tools.jackson.databind.JsonNode;

/**
 * The tools that workers serve, cached briefly: one query serves all steps of a plan that is being checked. That a workspace's
 * workers serve a tool is remembered for longer than that they do not: a worker's tools are forgotten only with its workspace,
 * or when it claims again after a minute.
 */
public final class WorkerToolRegistry {

    /** Shorter than the commit that registers a worker, so that the next submission knows its tools. */
    private static final Duration CACHE_TIME = Duration.ofMillis(5);
    /** How long a tool that was served counts as served. */
    private static final Duration REMEMBERED = Duration.ofSeconds(5);
    private static final int MAX_CACHED = 10_000;
    private static final UUID ALL_WORKSPACES = new UUID(0, 0);

    private final Database database;
    private final WorkerRegistry workers;
    private final Cache<UUID, Set<String>> toolsByWorkspace;
    private final Cache<UUID, Set<String>> remembered;

    /** @param nanos a clock that only goes forward, in nanoseconds */
    public WorkerToolRegistry(Database database, WorkerRegistry workers, LongSupplier nanos) {
        this.database = database;
        this.workers = workers;
        this.toolsByWorkspace = cache(CACHE_TIME, nanos);
        this.remembered = cache(REMEMBERED, nanos);
    }

    private static Cache<UUID, Set<String>> cache(Duration age, LongSupplier nanos) {
        return Caffeine.newBuilder().maximumSize(MAX_CACHED).expireAfterWrite(age).ticker(nanos::getAsLong).build();
    }

    /** Whether the workspace's workers serve the tool, or did so some seconds ago. */
    public boolean serves(UUID workspace, String tool) {
        Set<String> known = remembered.getIfPresent(workspace);
        return known != null && known.contains(tool) || in(workspace).contains(tool);
    }

    /** The tools of one workspace's workers. */
    public Set<String> in(UUID workspace) {
        return look(workspace, c -> workers.served(c, workspace));
    }

    /** The announced tools of a workspace's workers, by name. */
    public Map<String, JsonNode> announced(UUID workspace) {
        return database.withConnection(c -> workers.announced(c, workspace));
    }

    /** The tools of all workers. */
    public Set<String> everywhere() {
        return Tenancy.allWorkspaces(() -> look(ALL_WORKSPACES, workers::served));
    }

    private Set<String> look(UUID where, TxFunction<Set<String>> read) {
        Set<String> cached = toolsByWorkspace.getIfPresent(where);
        if (cached != null) {
            return cached;
        }
        Set<String> tools = database.withConnection(read);
        toolsByWorkspace.put(where, tools);
        remembered.put(where, tools);
        return tools;
    }
}
