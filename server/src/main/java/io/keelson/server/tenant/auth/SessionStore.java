package io.keelson.server.tenant.auth;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Sessions of browsers, and the one-time codes that begin them. Codes and tokens are 256 random bits; only their hashes are
 * stored. {@link ApiKeyLookup} finds the holder of a token.
 */
public final class SessionStore {

    /** How long a code is valid. */
    public static final Duration LINK = Duration.ofSeconds(60);

    /** A session that is not used for this long ends. */
    public static final Duration IDLE = Duration.ofHours(12);

    /** No session is longer. */
    public static final Duration LONGEST = Duration.ofDays(7);

    private static final int RANDOM_BYTES = 32;
    private static final Pattern FORM = Pattern.compile("[A-Za-z0-9_-]{43}");
    private static final SecureRandom RANDOM = new SecureRandom();

    private static final Sql LINK_OUTDATED = Sql.of("delete from session_links where expires_at < clock_timestamp()");

    private static final Sql LINK_INSERT =
            Sql.of("""
            insert into session_links (code_hash, workspace_id, key_id, scopes, expires_at)
            values (:code_hash, :workspace_id, :key_id, :scopes, clock_timestamp() + make_interval(secs => :link))
            returning expires_at""");

    private static final Sql TAKE = Sql.of("""
            delete from session_links l using api_keys k
             where l.code_hash = :code_hash and l.expires_at > clock_timestamp() and k.id = l.key_id and k.revoked_at is null
               and (k.expires_at is null or k.expires_at > clock_timestamp())
            returning l.workspace_id, l.key_id, l.scopes""");

    private static final Sql OUTDATED = Sql.of("""
            delete from sessions where workspace_id = :workspace_id
               and (ends_at < clock_timestamp() or last_used_at < clock_timestamp() - make_interval(secs => :idle))""");

    private static final Sql INSERT =
            Sql.of("""
            insert into sessions (id, workspace_id, key_id, token_hash, scopes, from_address, ends_at)
            values (:id, :workspace_id, :key_id, :token_hash, :scopes, :from_address,
                clock_timestamp() + make_interval(secs => :longest))""");

    private static final String COLUMNS = """
            select s.id, s.workspace_id, s.key_id, p.kind, p.name,
                array(select unnest(s.scopes) intersect select unnest(k.scopes)) as scopes, s.from_address, s.created_at,
                s.last_used_at, least(s.ends_at, k.expires_at, s.last_used_at + make_interval(secs => :idle)) as ends_at
              from sessions s
              join api_keys k on k.id = s.key_id
              join principals p on p.id = k.principal_id
             where s.workspace_id = :workspace_id and (:principal::text is null or p.name = :principal) and k.revoked_at is null
               and least(s.ends_at, k.expires_at, s.last_used_at + make_interval(secs => :idle)) > clock_timestamp()""";

    private static final Sql LIST = Sql.of(COLUMNS + " order by s.created_at desc, s.id");

    private static final Sql ONE = Sql.of(COLUMNS + " and s.id = :id");

    private static final Sql DELETE = Sql.of("delete from sessions where id = :id");

    /** @param code shown once */
    public record Link(String code, Instant expiresAt) {

        /** Without the code. */
        @Override
        public String toString() {
            return "Link[" + expiresAt + "]";
        }
    }

    /** @param token the cookie's value, shown once */
    public record Begun(SessionRow session, String token) {

        /** Without the token. */
        @Override
        public String toString() {
            return "Begun[" + session + "]";
        }
    }

    /** The principal of a session that begins. */
    private record Holder(UUID workspaceId, UUID keyId, List<String> scopes) {}

    private final Database database;

    public SessionStore(Database database) {
        this.database = database;
    }

    /** Whether a text has the form of a code or a token. */
    static boolean wellFormed(String text) {
        return FORM.matcher(text).matches();
    }

    /** Makes a code with which one browser can sign in as the key's holder. */
    public Link link(UUID workspaceId, UUID keyId, Set<Scope> scopes) {
        String code = random();
        return database.inTransaction(c -> {
            LINK_OUTDATED.on(c).update();
            return LINK_INSERT.on(c).set("code_hash", ApiKeyFormat.hash(code)).set("workspace_id", workspaceId)
                    .set("key_id", keyId).setTexts("scopes", Scope.words(scopes)).set("link", LINK.toSeconds())
                    .one(row -> new Link(code, Rows.time(row, "expires_at")));
        });
    }

    /** Begins the session of a code, which is then used up; empty when it is unknown, used or outdated, or its key has ended. */
    public Optional<Begun> begin(String code, @Nullable String fromAddress) {
        if (!wellFormed(code)) {
            return Optional.empty();
        }
        return Tenancy
                .allWorkspaces(() -> database.inTransaction(c -> TAKE.on(c).set("code_hash", ApiKeyFormat.hash(code))
                        .first(row -> begin(c, RecordColumns.of(Holder.class).read(row), fromAddress))));
    }

    /** Begins a session of the key's holder. */
    public Begun begin(UUID workspaceId, UUID keyId, Set<Scope> scopes, @Nullable String fromAddress) {
        return Tenancy.within(workspaceId, () -> database
                .inTransaction(c -> begin(c, new Holder(workspaceId, keyId, Scope.words(scopes)), fromAddress)));
    }

    /** Begins a session in a transaction of the caller. */
    Begun begin(Connection c, UUID workspaceId, UUID keyId, Set<Scope> scopes, @Nullable String fromAddress)
            throws SQLException {
        return begin(c, new Holder(workspaceId, keyId, Scope.words(scopes)), fromAddress);
    }

    private static Begun begin(Connection c, Holder holder, @Nullable String fromAddress) throws SQLException {
        OUTDATED.on(c).set("workspace_id", holder.workspaceId).set("idle", IDLE.toSeconds()).update();
        UUID id = UUID.randomUUID();
        String token = random();
        INSERT.on(c).set("id", id).set("workspace_id", holder.workspaceId).set("key_id", holder.keyId)
                .set("token_hash", ApiKeyFormat.hash(token)).setTexts("scopes", holder.scopes)
                .set("from_address", fromAddress).set("longest", LONGEST.toSeconds()).update();
        SessionRow session = one(c, holder.workspaceId, null, id).orElseThrow();
        AuditLog.write(c, new AuditOrigin(session.principal().name(), session.principal().kind().actor(), holder.keyId,
                fromAddress), "session_begun", holder.workspaceId, id.toString(),
                JsonNodeFactory.instance.objectNode());
        return new Begun(session, token);
    }

    /**
     * Sessions that have not ended, newest first.
     *
     * @param principal whose; null for all of the workspace
     */
    public List<SessionRow> list(UUID workspaceId, @Nullable String principal) {
        return database.withConnection(c -> of(LIST, c, workspaceId, principal).all(SessionStore::session));
    }

    /** A session that has not ended. */
    public Optional<SessionRow> find(UUID workspaceId, UUID id) {
        return database.withConnection(c -> one(c, workspaceId, null, id));
    }

    /**
     * Ends a session, on every server within 5 seconds.
     *
     * @param principal its owner; null for any owner
     * @return false if there is no such session
     */
    public boolean end(UUID workspaceId, @Nullable String principal, UUID id, AuditOrigin origin) {
        return database.inTransaction(c -> {
            if (one(c, workspaceId, principal, id).isEmpty()) {
                return false;
            }
            DELETE.on(c).set("id", id).update();
            AuditLog.write(c, origin, "session_ended", workspaceId, id.toString(),
                    JsonNodeFactory.instance.objectNode());
            return true;
        });
    }

    private static Optional<SessionRow> one(Connection c, UUID workspaceId, @Nullable String principal, UUID id)
            throws SQLException {
        return of(ONE, c, workspaceId, principal).set("id", id).first(SessionStore::session);
    }

    private static Sql.Call of(Sql query, Connection c, UUID workspaceId, @Nullable String principal) {
        return query.on(c).set("idle", IDLE.toSeconds()).set("workspace_id", workspaceId).set("principal", principal);
    }

    private static SessionRow session(ResultSet row) throws SQLException {
        return new SessionRow(row.getObject("id", UUID.class), row.getObject("workspace_id", UUID.class),
                row.getObject("key_id", UUID.class),
                new Principal(Principal.Kind.of(row.getString("kind")), row.getString("name")),
                ApiKeyLookup.scopes(row.getArray("scopes").getArray()), row.getString("from_address"),
                Rows.time(row, "created_at"),
                Rows.time(row, "last_used_at"),
                Rows.time(row, "ends_at"));
    }

    private static String random() {
        byte[] bytes = new byte[RANDOM_BYTES];
        RANDOM.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
