package io.keelson.server.auth;

import io.keelson.server.db.Database;
import java.nio.ByteBuffer;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The keys that open a workspace. Only their hashes are stored. Answers are remembered for {@link #MEMORY}, so a
 * revoked key stops working within that time on every node.
 */
public final class ApiKeys {

    static final Duration MEMORY = Duration.ofSeconds(5);

    private static final int MOST_REMEMBERED = 10_000;

    private static final String FIND = """
            select id, workspace_id from api_keys
            where key_hash = ? and revoked_at is null and (expires_at is null or expires_at > clock_timestamp())""";

    private static final String INSERT = """
            insert into api_keys (id, workspace_id, name, prefix, key_hash)
            values (?, ?, ?, ?, ?)""";

    private static final String REVOKE = """
            update api_keys set revoked_at = clock_timestamp()
            where id = ? and revoked_at is null""";

    private record Remembered(Caller caller, long at) {}

    private final Database database;
    private final LongSupplier nanoTime;
    private final Map<ByteBuffer, Remembered> memory = new ConcurrentHashMap<>();

    public ApiKeys(Database database) {
        this(database, System::nanoTime);
    }

    ApiKeys(Database database, LongSupplier nanoTime) {
        this.database = database;
        this.nanoTime = nanoTime;
    }

    /** The holder of a key; null when it is malformed, unknown or revoked. */
    public @Nullable Caller find(String key) {
        if (!KeyText.wellFormed(key)) {
            return null;
        }
        ByteBuffer hash = ByteBuffer.wrap(KeyText.hash(key));
        long now = nanoTime.getAsLong();
        Remembered known = memory.get(hash);
        if (known != null && now - known.at < MEMORY.toNanos()) {
            return known.caller;
        }
        Caller caller = read(hash.array());
        remember(hash, caller, now);
        return caller;
    }

    /**
     * Makes a key for a workspace.
     *
     * @param name for people, so that they know later whose key it is
     * @return the key, which nobody can read again afterwards
     */
    public String create(UUID workspaceId, String name) {
        String key = KeyText.generate();
        database.runInTransaction(connection -> {
            try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
                insert.setObject(1, UUID.randomUUID());
                insert.setObject(2, workspaceId);
                insert.setString(3, name);
                insert.setString(4, KeyText.shown(key));
                insert.setBytes(5, KeyText.hash(key));
                insert.executeUpdate();
            }
        });
        return key;
    }

    /** Ends a key; false when there is none or it had been ended before. */
    public boolean revoke(UUID keyId) {
        return database.inTransaction(connection -> {
            try (PreparedStatement revoke = connection.prepareStatement(REVOKE)) {
                revoke.setObject(1, keyId);
                return revoke.executeUpdate() == 1;
            }
        });
    }

    private void remember(ByteBuffer hash, @Nullable Caller caller, long now) {
        if (caller == null) {
            memory.remove(hash);
            return;
        }
        if (memory.size() >= MOST_REMEMBERED) {
            memory.clear();
        }
        memory.put(hash, new Remembered(caller, now));
    }

    private @Nullable Caller read(byte[] hash) {
        return database.<@Nullable Caller>withConnection(connection -> {
            try (PreparedStatement find = connection.prepareStatement(FIND)) {
                find.setBytes(1, hash);
                try (ResultSet row = find.executeQuery()) {
                    return row.next() ? new Caller(row.getObject(1, UUID.class), row.getObject(2, UUID.class)) : null;
                }
            }
        });
    }
}
