package io.keelson.server.tenant.auth;

import io.keelson.api.tenant.PrincipalInfo;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
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
             where k.workspace_id = :workspace_id""";

    private static final Sql LIST = Sql.of(COLUMNS + """

               and (:after::uuid is null or (k.created_at, k.id) < (
                   select last.created_at, last.id from api_keys last
                    where last.workspace_id = k.workspace_id and last.id = :after))
             order by k.created_at desc, k.id desc
             limit :limit""");

    private static final Sql ONE = Sql.of(COLUMNS + " and k.id = :id");

    private static final Sql LOCK = ONE.and(" for no key update of k");

    private static final Sql OPEN_WORKSPACE = Sql.of("""
            select from workspaces where id = :id and closed_at is null for key share""");

    /** An existing row keeps its kind; the update returns it. */
    private static final Sql PRINCIPAL = Sql.of("""
            insert into principals (workspace_id, kind, name) values (:workspace_id, coalesce(:kind, 'service'), :name)
            on conflict (workspace_id, name) do update set name = excluded.name
            returning id, kind""");

    private static final Sql INSERT = Sql.of("""
            insert into api_keys (id, workspace_id, name, prefix, key_hash, principal_id, scopes, created_by, created_at,
                expires_at)
            select :id, :workspace_id, :name, :prefix, :key_hash, :principal_id, :scopes, :created_by,
                t.now, t.now + :lifetime * interval '1 second'
              from (select clock_timestamp() as now) t""");

    private static final Sql REPLACED = Sql.of("""
            update api_keys
               set replaced_by = :replaced_by, revoked_at = case when :overlap = 0 then clock_timestamp() end,
                   expires_at = least(expires_at, clock_timestamp() + :overlap * interval '1 second')
             where id = :id""");

    private static final Sql REVOKE = Sql.of("""
            update api_keys set revoked_at = clock_timestamp() where id = :id and revoked_at is null""");

    private static final Sql KNOWN =
            Sql.of("select kind from principals where workspace_id = :workspace_id and name = :name");

    private static final Sql PRINCIPALS = Sql.of("""
            select p.kind, p.name, exists (select from api_keys k where k.principal_id = p.id and k.revoked_at is null
                    and (k.expires_at is null or k.expires_at > clock_timestamp())) as active
              from principals p where p.workspace_id = :workspace_id order by p.kind, p.name limit 1000""");

    private static final Sql LOCK_TEXT =
            Sql.of("select pg_advisory_xact_lock(hashtextextended(encode(:text, 'hex'), 0))");

    private static final Sql MADE = Sql.of("select from api_keys where key_hash = :key_hash");

    private static final Sql OPERATES = Sql.of("""
            select from api_keys k join principals p on p.id = k.principal_id
             where p.workspace_id = :workspace_id and p.name = :name and 'operator' = any (k.scopes) limit 1""");

    private record PrincipalRow(UUID id, Principal.Kind kind) {}

    private final Database database;

    public KeyStore(Database database) {
        this.database = database;
    }

    /** Whether the workspace has a principal of that name. */
    public boolean knows(Connection c, UUID workspaceId, String principal) throws SQLException {
        return kind(c, workspaceId, principal).isPresent();
    }

    /** The kind of a principal of the workspace by its name; empty if unknown. */
    public Optional<Principal.Kind> kind(Connection c, UUID workspaceId, String principal) throws SQLException {
        return KNOWN.on(c).set("workspace_id", workspaceId).set("name", principal)
                .first(row -> Principal.Kind.of(row.getString("kind")));
    }

    /** People first, then services, by name; at most 1,000. */
    public List<PrincipalInfo> principals(UUID workspaceId) {
        return database.withConnection(
                c -> PRINCIPALS.on(c).set("workspace_id", workspaceId).all(RecordColumns.of(PrincipalInfo.class)));
    }

    /** Whether the workspace's principal of that name has or had a key with the scope operator. */
    public boolean operates(UUID workspaceId, String principal) {
        return database
                .withConnection(c -> OPERATES.on(c).set("workspace_id", workspaceId).set("name", principal).exists());
    }

    /**
     * Newest first.
     *
     * @param after the last key of the page before; null to begin with the newest
     */
    public List<KeyRow> list(UUID workspaceId, @Nullable UUID after, int limit) {
        return database.withConnection(c -> LIST.on(c).set("workspace_id", workspaceId).set("after", after)
                .set("limit", limit).all(KeyStore::key));
    }

    public Optional<KeyRow> find(UUID workspaceId, UUID keyId) {
        return database.withConnection(c -> one(c, ONE, workspaceId, keyId));
    }

    /** Issued, OtherKind or NoWorkspace. */
    public KeyResult create(UUID workspaceId, NewKey wanted, AuditOrigin origin) {
        return database.inTransaction(c -> create(c, workspaceId, wanted, ApiKeyFormat.generate(), origin));
    }

    /** Creates a key with a given text, unless a key with that text was ever created; then empty. */
    Optional<KeyResult> createOnce(UUID workspaceId, NewKey wanted, String text, AuditOrigin origin) {
        return database.inTransaction(c -> {
            LOCK_TEXT.on(c).set("text", ApiKeyFormat.hash(text)).exists();
            if (MADE.on(c).set("key_hash", ApiKeyFormat.hash(text)).exists()) {
                return Optional.empty();
            }
            return Optional.of(create(c, workspaceId, wanted, text, origin));
        });
    }

    private static KeyResult create(Connection c, UUID workspaceId, NewKey wanted, String text, AuditOrigin origin)
            throws SQLException {
        if (!isOpen(c, workspaceId)) {
            return new KeyResult.NoWorkspace();
        }
        PrincipalRow principal = PRINCIPAL.on(c).set("workspace_id", workspaceId)
                .set("kind", wanted.kind() == null ? null : wanted.kind().wire()).set("name", wanted.principal())
                .one(RecordColumns.of(PrincipalRow.class));
        if (wanted.kind() != null && wanted.kind() != principal.kind) {
            return new KeyResult.OtherKind(new Principal(principal.kind, wanted.principal()));
        }
        IssuedKey key = insert(c, workspaceId, wanted, text, principal.id, origin);
        AuditLog.write(c, origin, "key_created", workspaceId, key.row().id().toString(), detail(key.row()));
        return new KeyResult.Issued(key);
    }

    /**
     * Creates a replacement for a key, which ends after the overlap, or at its own earlier end. Returns Issued,
     * NotActive or NoKey.
     */
    public KeyResult rotate(UUID workspaceId, UUID keyId, Duration overlap, AuditOrigin origin) {
        return database.inTransaction(c -> {
            Optional<KeyRow> found = one(c, LOCK, workspaceId, keyId);
            if (found.isEmpty()) {
                return new KeyResult.NoKey();
            }
            KeyRow old = found.get();
            if (!old.active() || old.replacedBy() != null || old.federated()) {
                return new KeyResult.NotActive(old);
            }
            Duration lifetime = old.expiresAt() == null ? null : Duration.between(old.createdAt(), old.expiresAt());
            IssuedKey key =
                    insert(c, workspaceId, new NewKey(old.name(), old.principal().name(), null, old.scopes(), lifetime),
                            ApiKeyFormat.generate(), principalOf(c, workspaceId, keyId), origin);
            REPLACED.on(c).set("replaced_by", key.row().id()).set("overlap", overlap.toSeconds()).set("id", keyId)
                    .update();
            AuditLog.write(c, origin, "key_rotated", workspaceId, keyId.toString(), detail(key.row())
                    .put("new_key_id", key.row().id().toString()).put("overlap_seconds", overlap.toSeconds()));
            return new KeyResult.Issued(key);
        });
    }

    /** Ends a key; empty if the workspace has no such key. An ended key is unchanged. */
    public Optional<KeyRow> revoke(UUID workspaceId, UUID keyId, AuditOrigin origin) {
        return database.inTransaction(c -> {
            Optional<KeyRow> found = one(c, LOCK, workspaceId, keyId);
            if (found.isPresent() && found.get().revokedAt() == null) {
                REVOKE.on(c).set("id", keyId).update();
                AuditLog.write(c, origin, "key_revoked", workspaceId, keyId.toString(), detail(found.get()));
                return one(c, ONE, workspaceId, keyId);
            }
            return found;
        });
    }

    private static boolean isOpen(Connection c, UUID workspaceId) throws SQLException {
        return OPEN_WORKSPACE.on(c).set("id", workspaceId).exists();
    }

    private static IssuedKey insert(Connection c, UUID workspaceId, NewKey wanted, String text,
            @Nullable UUID principal, AuditOrigin origin) throws SQLException {
        UUID id = UUID.randomUUID();
        Duration lifetime = wanted.lifetime();
        INSERT.on(c).set("id", id).set("workspace_id", workspaceId).set("name", wanted.name())
                .set("prefix", ApiKeyFormat.shown(text)).set("key_hash", ApiKeyFormat.hash(text))
                .set("principal_id", principal).setTexts("scopes", wanted.scopes().stream().map(Scope::wire).toList())
                .set("created_by", origin.name()).set("lifetime", lifetime == null ? null : lifetime.toSeconds())
                .update();
        return new IssuedKey(one(c, ONE, workspaceId, id).orElseThrow(), text);
    }

    private static @Nullable UUID principalOf(Connection c, UUID workspaceId, UUID keyId) throws SQLException {
        return ONE.on(c).set("workspace_id", workspaceId).set("id", keyId)
                .<@Nullable UUID>one(row -> row.getObject("principal_id", UUID.class));
    }

    private static Optional<KeyRow> one(Connection c, Sql sql, UUID workspaceId, UUID keyId) throws SQLException {
        return sql.on(c).set("workspace_id", workspaceId).set("id", keyId).first(KeyStore::key);
    }

    private static KeyRow key(ResultSet row) throws SQLException {
        return new KeyRow(row.getObject("id", UUID.class), row.getObject("workspace_id", UUID.class),
                row.getString("name"), row.getString("prefix"),
                new Principal(Principal.Kind.of(row.getString("kind")), row.getString("principal")),
                ApiKeyLookup.scopes(row.getArray("scopes").getArray()), row.getString("state"),
                Rows.time(row, "created_at"), row.getString("created_by"),
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
