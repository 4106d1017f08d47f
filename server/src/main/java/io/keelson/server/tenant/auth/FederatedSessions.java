package io.keelson.server.tenant.auth;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import io.keelson.server.tenant.secret.SecretStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;

/** Sessions of browsers that a provider vouches for: they end with the provider's tokens, or when the provider ends them. */
public final class FederatedSessions {

    private static final Sql STATE_OUTDATED = Sql.of("delete from sign_in_states where expires_at < clock_timestamp()");

    private static final Sql STATE_USED = Sql.of("select from sign_in_states where state_hash = :state_hash");

    private static final Sql STATE_INSERT = Sql.of("""
            insert into sign_in_states (state_hash, expires_at)
            values (:state_hash, clock_timestamp() + make_interval(secs => :lifetime)) on conflict do nothing""");

    private static final Sql INSERT = Sql.of("""
            insert into federated_sessions (session_id, workspace_id, issuer, subject, provider_session, sealing_key_id,
                tokens, refresh_at)
            values (:session_id, :workspace_id, :issuer, :subject, :provider_session, :sealing_key_id, :tokens,
                clock_timestamp() + make_interval(secs => :refresh))""");

    private static final Sql ENDS = Sql.of("""
            update sessions set ends_at = least(created_at + make_interval(secs => :longest),
                clock_timestamp() + make_interval(secs => :lifetime)) where id = :id""");

    private static final Sql RENEW = Sql.of("""
            update federated_sessions set sealing_key_id = :sealing_key_id, tokens = :tokens,
                refresh_at = clock_timestamp() + make_interval(secs => :refresh)
             where session_id = :session_id""");

    /** The lease makes one server alone exchange a token, which many providers accept once. */
    private static final Sql DUE =
            Sql.of("""
            update federated_sessions f set refresh_at = clock_timestamp() + make_interval(secs => :lease)
             where session_id in (
                select d.session_id from federated_sessions d join sessions s on s.id = d.session_id
                    join api_keys k on k.id = s.key_id
                 where d.refresh_at <= clock_timestamp() and s.ends_at > clock_timestamp() and k.revoked_at is null
                   and s.last_used_at > clock_timestamp() - make_interval(secs => :idle)
                 order by d.refresh_at limit :limit for update of d skip locked)
            returning f.session_id, f.workspace_id, f.issuer, f.subject, f.provider_session, f.sealing_key_id, f.tokens""");

    private static final Sql FIND = Sql.of("""
            select session_id, workspace_id, issuer, subject, provider_session, sealing_key_id, tokens
              from federated_sessions where session_id = :session_id""");

    private static final Sql FOREIGN = Sql.of("""
            select session_id, workspace_id, issuer, subject, provider_session, sealing_key_id, tokens
              from federated_sessions where sealing_key_id <> :key order by session_id for update skip locked""");

    private static final Sql RESEAL =
            Sql.of("""
            update federated_sessions set sealing_key_id = :sealing_key_id, tokens = :tokens where session_id = :session_id""");

    private static final Sql OF_PROVIDER = Sql.of("""
            select f.session_id, f.workspace_id, p.name, p.kind, s.key_id
              from federated_sessions f
              join sessions s on s.id = f.session_id
              join api_keys k on k.id = s.key_id
              join principals p on p.id = k.principal_id
             where f.issuer = :issuer and (:subject::text is null or f.subject = :subject)
               and (:provider_session::text is null or f.provider_session = :provider_session)""");

    private static final Sql ONE = Sql.of("""
            select f.session_id, f.workspace_id, p.name, p.kind, s.key_id
              from federated_sessions f
              join sessions s on s.id = f.session_id
              join api_keys k on k.id = s.key_id
              join principals p on p.id = k.principal_id
             where f.session_id = :session_id""");

    private static final Sql DELETE = Sql.of("delete from sessions where id = :id");

    /**
     * The grant of a provider for a session.
     *
     * @param providerSession its session at the provider; null if the provider names none
     * @param tokens refresh token and ID token, as a document
     * @param lifetime time after which the session ends, if its tokens are not renewed
     * @param refresh time after which the tokens are renewed; null if the provider does not renew them
     */
    public record Grant(String issuer, String subject, @Nullable String providerSession, String tokens,
            Duration lifetime, @Nullable Duration refresh) {

        /** Without the tokens. */
        @Override
        public String toString() {
            return "Grant[" + issuer + ", " + subject + "]";
        }
    }

    private record Row(UUID sessionId, UUID workspaceId, String issuer, String subject,
            @Nullable String providerSession, String sealingKeyId, byte[] tokens) {}

    private record Held(UUID sessionId, UUID workspaceId, String name, String kind, UUID keyId) {}

    /** A session with its tokens. */
    public record Open(UUID sessionId, UUID workspaceId, String issuer, String subject,
            @Nullable String providerSession, String tokens) {

        /** Without the tokens. */
        @Override
        public String toString() {
            return "Open[" + sessionId + "]";
        }
    }

    private final Database database;
    private final SessionStore sessions;
    private final SecretStore secrets;

    public FederatedSessions(Database database, SessionStore sessions, SecretStore secrets) {
        this.database = database;
        this.sessions = sessions;
        this.secrets = secrets;
    }

    /** Whether a sign-in with that state was completed. */
    public boolean isUsed(String state) {
        return database.inTransaction(c -> {
            STATE_OUTDATED.on(c).update();
            return STATE_USED.on(c).set("state_hash", ApiKeyFormat.hash(state)).exists();
        });
    }

    /**
     * Begins a session of a subject that was admitted.
     *
     * @param state of the sign-in, which is then used
     * @param kept time for which the state is remembered
     * @return empty if another request has used the state meanwhile
     */
    public Optional<SessionStore.Begun> begin(UUID workspace, UUID key, Grant grant, String state, Duration kept,
            @Nullable String address) {
        return Tenancy.allWorkspaces(() -> database.inTransaction(c -> {
            if (STATE_INSERT.on(c).set("state_hash", ApiKeyFormat.hash(state)).set("lifetime", kept.toSeconds())
                    .update() == 0) {
                return Optional.empty();
            }
            // The key bounds the scopes, and each renewal changes it.
            SessionStore.Begun begun = sessions.begin(c, workspace, key, Set.of(Scope.values()), address);
            UUID id = begun.session().id();
            SecretStore.Sealed sealed = secrets.seal(grant.tokens, context(id));
            INSERT.on(c).set("session_id", id).set("workspace_id", workspace).set("issuer", grant.issuer)
                    .set("subject", grant.subject).set("provider_session", grant.providerSession)
                    .set("sealing_key_id", sealed.keyId()).set("tokens", sealed.bytes())
                    .set("refresh", seconds(grant.refresh)).update();
            ends(c, id, grant.lifetime);
            return Optional.of(begun);
        }));
    }

    /** Stores renewed tokens, and lets the session last as long as they do. */
    public void renew(UUID session, Grant grant) {
        SecretStore.Sealed sealed = secrets.seal(grant.tokens, context(session));
        Tenancy.allWorkspaces(() -> database.inTransaction(c -> {
            if (RENEW.on(c).set("sealing_key_id", sealed.keyId()).set("tokens", sealed.bytes())
                    .set("refresh", seconds(grant.refresh)).set("session_id", session).update() == 1) {
                ends(c, session, grant.lifetime);
            }
            return session;
        }));
    }

    /**
     * Seals tokens under the present key that are sealed under a former one. A session whose key is unknown stays, and ends with its tokens.
     *
     * @return the number of sessions
     */
    public int reseal() {
        return Tenancy.allWorkspaces(() -> database.inTransaction(c -> {
            int done = 0;
            for (Row each : FOREIGN.on(c).set("key", secrets.keyId()).all(RecordColumns.of(Row.class))) {
                if (secrets.knows(each.sealingKeyId)) {
                    SecretStore.Sealed sealed = secrets.seal(open(each).tokens, context(each.sessionId));
                    done += RESEAL.on(c).set("sealing_key_id", sealed.keyId()).set("tokens", sealed.bytes())
                            .set("session_id", each.sessionId).update();
                }
            }
            return done;
        }));
    }

    /** Takes sessions whose tokens are to be renewed; a session that is neither renewed nor ended is due again after the lease. */
    public List<Open> due(Duration lease, int limit) {
        return Tenancy.allWorkspaces(() -> database.inTransaction(c -> DUE.on(c).set("lease", lease.toSeconds())
                .set("idle", SessionStore.IDLE.toSeconds()).set("limit", limit).all(RecordColumns.of(Row.class))))
                .stream().map(this::open).toList();
    }

    public Optional<Open> find(UUID session) {
        return Tenancy.allWorkspaces(() -> database.withConnection(
                c -> FIND.on(c).set("session_id", session).first(RecordColumns.of(Row.class)))).map(this::open);
    }

    /**
     * Ends sessions for their provider.
     *
     * @param subject null for the session alone
     * @param providerSession null for all sessions of the subject
     * @return how many
     */
    public int end(String issuer, @Nullable String subject, @Nullable String providerSession) {
        return Tenancy.allWorkspaces(() -> database.inTransaction(c -> {
            List<Held> held = OF_PROVIDER.on(c).set("issuer", issuer).set("subject", subject)
                    .set("provider_session", providerSession).all(RecordColumns.of(Held.class));
            for (Held each : held) {
                end(c, each);
            }
            return held.size();
        }));
    }

    /** Ends a session whose tokens the provider does not renew. */
    public void end(UUID session) {
        Tenancy.allWorkspaces(() -> database.inTransaction(c -> {
            Optional<Held> held = ONE.on(c).set("session_id", session).first(RecordColumns.of(Held.class));
            if (held.isPresent()) {
                end(c, held.get());
            }
            return held;
        }));
    }

    private static void end(Connection c, Held held) throws SQLException {
        DELETE.on(c).set("id", held.sessionId).update();
        AuditLog.write(c, new AuditOrigin(held.name, Principal.Kind.of(held.kind).actor(), held.keyId, null),
                "session_ended", held.workspaceId, held.sessionId.toString(),
                JsonNodeFactory.instance.objectNode().put("by", "provider"));
    }

    private Open open(Row row) {
        return new Open(row.sessionId, row.workspaceId, row.issuer, row.subject, row.providerSession,
                secrets.open(new SecretStore.Sealed(row.sealingKeyId, row.tokens), context(row.sessionId)));
    }

    private static void ends(Connection c, UUID session, Duration lifetime) throws SQLException {
        ENDS.on(c).set("longest", SessionStore.LONGEST.toSeconds()).set("lifetime", lifetime.toSeconds())
                .set("id", session).update();
    }

    private static @Nullable Long seconds(@Nullable Duration time) {
        return time == null ? null : time.toSeconds();
    }

    private static String context(UUID session) {
        return "tokens of session " + session;
    }
}
