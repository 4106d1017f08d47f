package io.keelson.server.engine.dispatch;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.store.queue.WorkerRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The tools that workers serve. That a workspace's workers serve a tool is remembered for seconds, as a worker's tools are
 * forgotten only with its workspace, or when it claims again after a minute. That they do not is not remembered: a tool may
 * have been registered since.
 */
public final class WorkerToolRegistry {

    /** How long a tool that was served counts as served. */
    private static final Duration REMEMBERED = Duration.ofSeconds(5);
    private static final int MAX_CACHED = 10_000;

    private final Database database;
    private final WorkerRegistry workers;
    private final Cache<UUID, Set<String>> remembered;

    /** @param nanos a clock that only goes forward, in nanoseconds */
    public WorkerToolRegistry(Database database, WorkerRegistry workers, LongSupplier nanos) {
        this.database = database;
        this.workers = workers;
        this.remembered =
                Caffeine.newBuilder().maximumSize(MAX_CACHED).expireAfterWrite(REMEMBERED).ticker(nanos::getAsLong)
                        .build();
    }

    /**
     * Whether the workspace's workers serve a tool, or did so some seconds ago, for the check of one plan by one thread. It reads
     * the database at most once, after the check began: it sees every tool that was registered before.
     */
    public Predicate<String> check(UUID workspace) {
        return new Predicate<>() {
            private @Nullable Set<String> read;

            @Override
            public boolean test(String tool) {
                Set<String> known = read != null ? read : remembered.getIfPresent(workspace);
                if (known != null && known.contains(tool)) {
                    return true;
                }
                if (read == null) {
                    read = in(workspace);
                }
                return read.contains(tool);
            }
        };
    }

    /** The tools of one workspace's workers. */
    public Set<String> in(UUID workspace) {
        Set<String> tools = database.withConnection(c -> workers.served(c, workspace));
        remembered.put(workspace, tools);
        return tools;
    }

    /** The announced tools of a workspace's workers, by name. */
    public Map<String, JsonNode> announced(UUID workspace) {
        return database.withConnection(c -> workers.announced(c, workspace));
    }
}
