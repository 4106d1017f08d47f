package io.keelson.server.auth;

import io.keelson.server.db.Database;
import io.keelson.server.db.SqlFailure;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When keys were last used: written some seconds later, by a thread of its own and at most once a minute for a key, so that
 * no request waits for it.
 */
public final class ApiKeyUsage implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ApiKeyUsage.class);
    private static final long PERIOD_SECONDS = 10;

    private static final String WRITE = """
            update api_keys set last_used_at = clock_timestamp()
             where id = any (?) and coalesce(last_used_at < clock_timestamp() - interval '1 minute', true)""";

    private final Database database;
    private final Set<UUID> used = ConcurrentHashMap.newKeySet();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread = Thread.ofPlatform().daemon().name("key-usage").unstarted(this::run);

    public ApiKeyUsage(Database database) {
        this.database = database;
    }

    /** Begins to write. */
    public ApiKeyUsage start() {
        thread.start();
        return this;
    }

    void used(UUID key) {
        used.add(key);
    }

    private void run() {
        try {
            while (!closing.await(PERIOD_SECONDS, TimeUnit.SECONDS)) {
                write();
            }
        } catch (InterruptedException e) {
            LOG.debug("no more uses of keys are written", e);
        }
    }

    /** How many keys were written. Those that cannot be are left for the next time. */
    int write() {
        Set<UUID> keys = new HashSet<>(used);
        if (keys.isEmpty()) {
            return 0;
        }
        try {
            int written = database.inTransaction(connection -> {
                Array ids = connection.createArrayOf("uuid", keys.toArray());
                try (PreparedStatement write = connection.prepareStatement(WRITE)) {
                    write.setArray(1, ids);
                    return write.executeUpdate();
                }
            });
            used.removeAll(keys);
            return written;
        } catch (SqlFailure e) {
            LOG.debug("uses of keys could not be written", e);
            return 0;
        }
    }

    /** Writes what is left. */
    @Override
    public void close() throws InterruptedException {
        closing.countDown();
        thread.join();
        write();
    }
}
