package io.keelson.server.tenant.auth;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Rows;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The keys of workspaces: made, listed, rotated and revoked, each act with its entry in the audit log. */
public final class KeyStore {

    private static final String COLUMNS = """
            select k.id, k.workspace_id, k.name, k.prefix, coalesce(p.name, k.name) as principal,
                coalesce(p.kind, 'person') as kind, k.scopes, k.created_at, k.created_by, k.expires_at, k.revoked_at,
                k.last_used_at, k.replaced_by, k.principal_id,
                case when k.revoked_at is not null then 'revoked'
                    when k.expires_at <= clock_timestamp() then 'expired' else 'active' end as state
              from api_keys k left join principals p on p.id = k.principal_id
             where k.workspace_id = ?""";

    private static final String LIST = COLUMNS + """

               and (?::uuid is null or (k.created_at, k.id) < (
                   select last.created_at, last.id from api_keys last
                    where last.workspace_id = k.workspace_id and last.id = ?))
             order by k.created_at desc, k.id desc
             limit ?""";

    private static final String ONE = COLUMNS + " and k.id = ?";

    private static final String LOCK = ONE + " for no key update of k";

    private static final String OPEN_WORKSPACE = """
            select from workspaces where id = ? and closed_at is null for key share""";

    /** An existing row keeps its kind; the update returns it. */
    private static final String PRINCIPAL = """
            insert into principals (workspace_id, kind, name) values (?, coalesce(?, 'service'), ?)
            on conflict (workspace_id, name) do update set name = excluded.name
            returning id, kind""";

    private static final String INSERT = """
            insert into api_keys (id, workspace_id, name, prefix, key_hash, principal_id, scopes, created_by, created_at,
                expires_at)
            select ?, ?, ?, ?, ?, ?, ?, ?, t.now, t.now + ? * interval '1 second'
              from (select clock_timestamp() as now) t""";

    private static final String REPLACED = """
            update api_keys
               set replaced_by = ?, revoked_at = case when ? = 0 then clock_timestamp() end,
                   expires_at = least(expires_at, clock_timestamp() + ? * interval '1 second')
             where id = ?""";

    private static final String REVOKE = """
            update api_keys set revoked_at = clock_timestamp() where id = ? and revoked_at is null""";

    private static final String KNOWN = "select from principals where workspace_id = ? and name = ?";

    private static final String PRINCIPALS = """
            select p.kind, p.name, exists (select from api_keys k where k.principal_id = p.id and k.revoked_at is null
                    and (k.expires_at is null or k.expires_at > clock_timestamp())) as active
              from principals p where p.workspace_id = ? order by p.kind, p.name limit 1000""";

    private static final String LOCK_TEXT = "select pg_advisory_xact_lock(hashtextextended(encode(?, 'hex'), 0))";

    private static final String MADE = "select from api_keys where key_hash = ?";

    private static final String OPERATES = """
            select from api_keys k join principals p on p.id = k.principal_id
             where p.workspace_id = ? and p.name = ? and 'operator' = any (k.scopes) limit 1""";

    private final Database database;

    public KeyStore(Database database) {
        this.database = database;
    }

    /** Whether the workspace has a principal of that name. */
    public boolean knows(Connection c, UUID workspaceId, String principal) throws SQLException {
        try (PreparedStatement select = c.prepareStatement(KNOWN)) {
            select.setObject(1, workspaceId);
            select.setString(2, principal);
            try (ResultSet row = select.executeQuery()) {
                return row.next();
            }
        }
    }

    /** @param active whether it has a key that has not ended */
    public record KnownPrincipal(Principal principal, boolean active) {}

    /** People first, then services, by name; at most 1,000. */
    public List<KnownPrincipal> principals(UUID workspaceId) {
        return database.withConnection(c -> {
            try (PreparedStatement select = c.prepareStatement(PRINCIPALS)) {
                select.setObject(1, workspaceId);
                return Rows.all(select, row -> new KnownPrincipal(
                        new Principal(Principal.Kind.of(row.getString("kind")), row.getString("name")),
                        row.getBoolean("active")));
            }
        });
    }

    /** Whether the workspace's principal of that name has or had a key with the scope operator. */
    public boolean operates(UUID workspaceId, String principal) {
        return database.withConnection(c -> {
            try (PreparedStatement select = c.prepareStatement(OPERATES)) {
                select.setObject(1, workspaceId);
                select.setString(2, principal);
                try (ResultSet row = select.executeQuery()) {
                    return row.next();
                }
            }
        });
    }

    /**
     * Newest first.
     *
     * @param after the last key of the page before; null to begin with the newest
     */
    public List<KeyRow> list(UUID workspaceId, @Nullable UUID after, int limit) {
        return database.withConnection(c -> {
            try (PreparedStatement list = c.prepareStatement(LIST)) {
                list.setObject(1, workspaceId);
                list.setObject(2, after);
                list.setObject(3, after);
                list.setInt(4, limit);
                List<KeyRow> keys = new ArrayList<>();
                try (ResultSet row = list.executeQuery()) {
                    while (row.next()) {
                        keys.add(key(row));
                    }
                }
                return keys;
            }
        });
    }

    public Optional<KeyRow> find(UUID workspaceId, UUID keyId) {
        return database.withConnection(c -> one(c, ONE, workspaceId, keyId));
    }

    /** Issued, OtherKind or NoWorkspace. */
    public KeyResult create(UUID workspaceId, NewKey wanted, AuditOrigin origin) {
        return database.inTransaction(c -> create(c, workspaceId, wanted, ApiKeyFormat.generate(), origin));
    }

    /** The same with a text from elsewhere, unless a key of that text was ever made; then empty. */
    Optional<KeyResult> createOnce(UUID workspaceId, NewKey wanted, String text, AuditOrigin origin) {
        return database.inTransaction(c -> {
            try (PreparedStatement lock = c.prepareStatement(LOCK_TEXT)) {
                lock.setBytes(1, ApiKeyFormat.hash(text));
                lock.execute();
            }
            try (PreparedStatement select = c.prepareStatement(MADE)) {
                select.setBytes(1, ApiKeyFormat.hash(text));
                try (ResultSet row = select.executeQuery()) {
                    if (row.next()) {
                        return Optional.empty();
                    }
                }
            }
            return Optional.of(create(c, workspaceId, wanted, text, origin));
        });
    }

    private static KeyResult create(Connection c, UUID workspaceId, NewKey wanted, String text, AuditOrigin origin)
            throws SQLException {
        if (!isOpen(c, workspaceId)) {
            return new KeyResult.NoWorkspace();
        }
        UUID principal;
        try (PreparedStatement insert = c.prepareStatement(PRINCIPAL)) {
            insert.setObject(1, workspaceId);
            insert.setString(2, wanted.kind() == null ? null : wanted.kind().wire());
            insert.setString(3, wanted.principal());
            try (ResultSet row = insert.executeQuery()) {
                row.next();
                Principal.Kind kind = Principal.Kind.of(row.getString("kind"));
                if (wanted.kind() != null && wanted.kind() != kind) {
                    return new KeyResult.OtherKind(new Principal(kind, wanted.principal()));
                }
                principal = row.getObject("id", UUID.class);
            }
        }
        IssuedKey key = insert(c, workspaceId, wanted, text, principal, origin);
        AuditLog.write(c, origin, "key_created", workspaceId, key.row().id().toString(), detail(key.row()));
        return new KeyResult.Issued(key);
    }

    /**
     * Makes a key like another one, which ends once the overlap is over; one that would have ended sooner still does.
     * Issued, NotActive or NoKey.
     */
    public KeyResult rotate(UUID workspaceId, UUID keyId, Duration overlap, AuditOrigin origin) {
        return database.inTransaction(c -> {
            Optional<KeyRow> found = one(c, LOCK, workspaceId, keyId);
            if (found.isEmpty()) {
                return new KeyResult.NoKey();
            }
            KeyRow old = found.get();
            if (!old.active() || old.replacedBy() != null) {
                return new KeyResult.NotActive(old);
            }
            Duration lifetime = old.expiresAt() == null ? null : Duration.between(old.createdAt(), old.expiresAt());
            IssuedKey key =
                    insert(c, workspaceId, new NewKey(old.name(), old.principal().name(), null, old.scopes(), lifetime),
                            ApiKeyFormat.generate(), principalOf(c, workspaceId, keyId), origin);
            try (PreparedStatement replaced = c.prepareStatement(REPLACED)) {
                replaced.setObject(1, key.row().id());
                replaced.setLong(2, overlap.toSeconds());
                replaced.setLong(3, overlap.toSeconds());
                replaced.setObject(4, keyId);
                replaced.executeUpdate();
            }
            AuditLog.write(c, origin, "key_rotated", workspaceId, keyId.toString(), detail(key.row())
                    .put("new_key_id", key.row().id().toString()).put("overlap_seconds", overlap.toSeconds()));
            return new KeyResult.Issued(key);
        });
    }

    /** Ends a key; empty when the workspace has none of that id. One that had been ended stays as it is. */
    public Optional<KeyRow> revoke(UUID workspaceId, UUID keyId, AuditOrigin origin) {
        return database.inTransaction(c -> {
            Optional<KeyRow> found = one(c, LOCK, workspaceId, keyId);
            if (found.isPresent() && found.get().revokedAt() == null) {
                try (PreparedStatement revoke = c.prepareStatement(REVOKE)) {
                    revoke.setObject(1, keyId);
                    revoke.executeUpdate();
                }
                AuditLog.write(c, origin, "key_revoked", workspaceId, keyId.toString(), detail(found.get()));
                return one(c, ONE, workspaceId, keyId);
            }
            return found;
        });
    }

    private static boolean isOpen(Connection c, UUID workspaceId) throws SQLException {
        try (PreparedStatement open = c.prepareStatement(OPEN_WORKSPACE)) {
            open.setObject(1, workspaceId);
            try (ResultSet row = open.executeQuery()) {
                return row.next();
            }
        }
    }

    private static IssuedKey insert(Connection c, UUID workspaceId, NewKey wanted, String text,
            @Nullable UUID principal, AuditOrigin origin) throws SQLException {
        UUID id = UUID.randomUUID();
        Duration lifetime = wanted.lifetime();
        try (PreparedStatement insert = c.prepareStatement(INSERT)) {
            insert.setObject(1, id);
            insert.setObject(2, workspaceId);
            insert.setString(3, wanted.name());
            insert.setString(4, ApiKeyFormat.shown(text));
            insert.setBytes(5, ApiKeyFormat.hash(text));
            insert.setObject(6, principal);
            insert.setArray(7, c.createArrayOf("text", wanted.scopes().stream().map(Scope::wire).toArray()));
            insert.setString(8, origin.name());
            insert.setObject(9, lifetime == null ? null : lifetime.toSeconds());
            insert.executeUpdate();
        }
        return new IssuedKey(one(c, ONE, workspaceId, id).orElseThrow(), text);
    }

    private static @Nullable UUID principalOf(Connection c, UUID workspaceId, UUID keyId) throws SQLException {
        try (PreparedStatement one = c.prepareStatement(ONE)) {
            one.setObject(1, workspaceId);
            one.setObject(2, keyId);
            try (ResultSet row = one.executeQuery()) {
                row.next();
                return row.getObject("principal_id", UUID.class);
            }
        }
    }

    private static Optional<KeyRow> one(Connection c, String sql, UUID workspaceId, UUID keyId) throws SQLException {
        try (PreparedStatement one = c.prepareStatement(sql)) {
            one.setObject(1, workspaceId);
            one.setObject(2, keyId);
            try (ResultSet row = one.executeQuery()) {
                return row.next() ? Optional.of(key(row)) : Optional.empty();
            }
        }
    }

    private static KeyRow key(ResultSet row) throws SQLException {
        return new KeyRow(row.getObject("id", UUID.class), row.getObject("workspace_id", UUID.class),
                row.getString("name"), row.getString("prefix"),
                new Principal(Principal.Kind.of(row.getString("kind")), row.getString("principal")),
                ApiKeyLookup.scopes(row.getArray("scopes").getArray()), row.getString("state"),
                row.getObject("created_at", OffsetDateTime.class).toInstant(), row.getString("created_by"),
                Rows.optionalTime(row, "expires_at"), Rows.optionalTime(row, "revoked_at"),
                Rows.optionalTime(row, "last_used_at"), row.getObject("replaced_by", UUID.class));
    }

    private static ObjectNode detail(KeyRow key) {
        ObjectNode detail = JsonNodeFactory.instance.objectNode().put("name", key.name()).put("prefix", key.prefix())
                .put("principal", key.principal().name());
        var scopes = detail.putArray("scopes");
        key.scopes().stream().sorted().forEach(scope -> scopes.add(scope.wire()));
        return detail;
    }
}
