package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.uuid;

import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * {@code idempotency_cache}: keys used within the last 24 hours, and their responses. Methods use the given connection
 * and do not commit.
 */
public final class IdempotencyKeys {

    /** A key in use counts as an unexpected number of rows; an expired one is used again. */
    static final RowSetStatement<KeyUse> USE = RowSetStatement.ofAll("keelson_key_use", """
            insert into idempotency_cache as k (workspace_id, endpoint, idempotency_key, request_hash, run_id, created_at,
                expires_at)
            select workspace_id, endpoint, idempotency_key, request_hash, run_id, {now}, {now} + interval '24 hours'
              from {rows}
             order by workspace_id, endpoint, idempotency_key
            on conflict (workspace_id, endpoint, idempotency_key) do update
               set request_hash = excluded.request_hash, run_id = excluded.run_id, response_status = null,
                   response_location = null, response_body = null, created_at = excluded.created_at,
                   expires_at = excluded.expires_at
             where k.expires_at <= excluded.created_at""",
            uuid("workspace_id", use -> use.id().workspaceId()), text("endpoint", use -> use.id().endpoint()),
            text("idempotency_key", use -> use.id().key()), text("request_hash", KeyUse::requestHash),
            uuid("run_id", KeyUse::run));

    private static final String FIND = """
            select request_hash, run_id, response_status, response_location, response_body
              from idempotency_cache
             where workspace_id = ? and endpoint = ? and idempotency_key = ?
               and (expires_at > {now}) is true""".replace("{now}", DbClock.SQL);

    private static final String USED = """
            select k.workspace_id, k.endpoint, k.idempotency_key
              from unnest(?::uuid[], ?::text[], ?::text[]) as u (workspace_id, endpoint, idempotency_key)
              join idempotency_cache k using (workspace_id, endpoint, idempotency_key)
             where (expires_at > {now}) is true""".replace("{now}", DbClock.SQL);

    private static final String USE_ONE = """
            insert into idempotency_cache as k (workspace_id, endpoint, idempotency_key, request_hash, run_id, created_at,
                expires_at)
            select ?, ?, ?, ?, ?::uuid, at, at + interval '24 hours' from (select {now} as at) as clock
            on conflict (workspace_id, endpoint, idempotency_key) do update
               set request_hash = excluded.request_hash, run_id = excluded.run_id, response_status = null,
                   response_location = null, response_body = null, created_at = excluded.created_at,
                   expires_at = excluded.expires_at
             where k.expires_at <= excluded.created_at""".replace("{now}", DbClock.SQL);

    private static final String ANSWERED = """
            insert into idempotency_cache as k (workspace_id, endpoint, idempotency_key, request_hash, run_id,
                response_status, response_location, response_body, created_at, expires_at)
            select ?, ?, ?, ?, ?::uuid, ?, ?, ?, at, at + interval '24 hours' from (select {now} as at) as clock
            on conflict (workspace_id, endpoint, idempotency_key) do update
               set response_status = excluded.response_status, response_location = excluded.response_location,
                   response_body = excluded.response_body
             where k.response_status is null and k.request_hash = excluded.request_hash"""
            .replace("{now}", DbClock.SQL);

    /**
     * The commit does not wait for the disk, because the key is used already: if PostgreSQL crashes within the next second, a
     * repeated request is answered as if no answer had been recorded.
     */
    private static final String ANSWERED_LATER = """
            update idempotency_cache
               set response_status = ?, response_location = ?, response_body = ?
             where workspace_id = ? and endpoint = ? and idempotency_key = ? and request_hash = ?
               and response_status is null and set_config('synchronous_commit', 'off', true) is not null""";

    private static final String PURGE = """
            delete from idempotency_cache where ctid = any (array(
                select ctid from idempotency_cache where expires_at <= {now} order by expires_at limit ?))"""
            .replace("{now}", DbClock.SQL);

    /**
     * A stored response.
     *
     * @param location null if absent
     * @param body JSON text; null if absent
     */
    public record StoredAnswer(int status, @Nullable String location, @Nullable String body) {}

    /**
     * A used key.
     *
     * @param answer null when none was recorded: the request was executed all the same
     */
    public record Used(String requestHash, @Nullable UUID run, @Nullable StoredAnswer answer) {}

    private final DbClock clock;

    public IdempotencyKeys(DbClock clock) {
        this.clock = clock;
    }

    /** A used key that has not expired. */
    public Optional<Used> find(Connection c, KeyUse.Id id) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(FIND)) {
            bind(statement, 1, id);
            clock.bind(statement, 4);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    return Optional.empty();
                }
                int status = row.getInt("response_status");
                StoredAnswer answer = status == 0 ? null
                        : new StoredAnswer(status, row.getString("response_location"), row.getString("response_body"));
                return Optional
                        .of(new Used(row.getString("request_hash"), ViewLoader.uuidOrNull(row, "run_id"), answer));
            }
        }
    }

    /** The keys that were used and have not expired. */
    Set<KeyUse.Id> used(Connection c, Collection<KeyUse.Id> ids) throws SQLException {
        Set<KeyUse.Id> used = new HashSet<>();
        if (ids.isEmpty()) {
            return used;
        }
        try (PreparedStatement statement = c.prepareStatement(USED)) {
            statement.setArray(1, c.createArrayOf("uuid", ids.stream().map(KeyUse.Id::workspaceId).toArray()));
            statement.setArray(2, c.createArrayOf("text", ids.stream().map(KeyUse.Id::endpoint).toArray()));
            statement.setArray(3, c.createArrayOf("text", ids.stream().map(KeyUse.Id::key).toArray()));
            clock.bind(statement, 4);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    used.add(new KeyUse.Id(ViewLoader.uuid(row, "workspace_id"), row.getString("endpoint"),
                            row.getString("idempotency_key")));
                }
            }
        }
        return used;
    }

    /**
     * Uses a key for the transaction's changes; false when it is in use already. Waits for a concurrent user of the
     * key.
     */
    public boolean use(Connection c, KeyUse use) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(USE_ONE)) {
            bind(statement, 1, use.id());
            statement.setString(4, use.requestHash());
            statement.setObject(5, use.run());
            clock.bind(statement, 6);
            return statement.executeUpdate() == 1;
        }
    }

    /** Records the first response to a request; also uses the key, unless the request itself has done so. */
    public void answered(Connection c, KeyUse use, StoredAnswer answer) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(ANSWERED)) {
            bind(statement, 1, use.id());
            statement.setString(4, use.requestHash());
            statement.setObject(5, use.run());
            statement.setInt(6, answer.status());
            statement.setString(7, answer.location());
            statement.setString(8, answer.body());
            clock.bind(statement, 9);
            statement.executeUpdate();
        }
    }

    /** Stores the answer in a transaction of its own, after the transaction that executed the request. */
    public void answeredLater(Connection c, KeyUse use, StoredAnswer answer) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(ANSWERED_LATER)) {
            statement.setInt(1, answer.status());
            statement.setString(2, answer.location());
            statement.setString(3, answer.body());
            bind(statement, 4, use.id());
            statement.setString(7, use.requestHash());
            if (statement.executeUpdate() == 1) {
                return;
            }
        }
        answered(c, use, answer);
    }

    /** Deletes expired keys, up to a maximum; returns their number. */
    public int purge(Connection c, int most) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(PURGE)) {
            clock.bind(statement, 1);
            statement.setInt(2, most);
            return statement.executeUpdate();
        }
    }

    private static void bind(PreparedStatement statement, int first, KeyUse.Id id) throws SQLException {
        statement.setObject(first, id.workspaceId());
        statement.setString(first + 1, id.endpoint());
        statement.setString(first + 2, id.key());
    }
}
