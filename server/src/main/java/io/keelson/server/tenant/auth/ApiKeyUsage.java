package io.keelson.server.tenant.auth;

import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.db.SqlFailure;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * When keys and sessions were last used: written some seconds later, by a thread of its own and at most once a minute for each,
 * so that no request waits for it.
 */
public final class ApiKeyUsage implements AutoCloseable {

    private static final Duration WRITE_INTERVAL = Duration.ofSeconds(10);

    private static final Sql WRITE = Sql.of("""
            update api_keys set last_used_at = clock_timestamp()
             where id = any (:ids) and coalesce(last_used_at < clock_timestamp() - interval '1 minute', true)""");

    private static final Sql WRITE_SESSIONS = Sql.of("""
            update sessions set last_used_at = clock_timestamp()
             where id = any (:ids) and last_used_at < clock_timestamp() - interval '1 minute'""");

    private final Database database;
    private final Set<UUID> usedSessions = ConcurrentHashMap.newKeySet();
    private final Set<UUID> used = ConcurrentHashMap.newKeySet();
    private final BackgroundTask task = BackgroundTask.every("key-usage", WRITE_INTERVAL, this::write);

    public ApiKeyUsage(Database database) {
        this.database = database;
    }

    /** Begins to write. */
    public ApiKeyUsage start() {
        task.start();
        return this;
    }

    void used(UUID key) {
        used.add(key);
    }

    void usedSession(UUID session) {
        usedSessions.add(session);
    }

    /**
     * Returns the number of keys and sessions written.
     *
     * @throws SqlFailure when none is written; the next run writes them
     */
    int write() {
        return write(used, WRITE) + write(usedSessions, WRITE_SESSIONS);
    }

    private int write(Set<UUID> seen, Sql sql) {
        Set<UUID> these = new HashSet<>(seen);
        if (these.isEmpty()) {
            return 0;
        }
        int written = database.inTransaction(c -> sql.on(c).setUuids("ids", these).update());
        seen.removeAll(these);
        return written;
    }

    /** Writes the remaining uses. */
    public List<BackgroundTask> tasks() {
        return List.of(task);
    }

    @Override
    public void close() throws InterruptedException {
        task.close();
        write();
    }
}
