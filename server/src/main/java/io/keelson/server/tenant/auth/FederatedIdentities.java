package io.keelson.server.tenant.auth;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Subjects of identity providers in workspaces. Each has a principal, and a key without a text that a request could send: sessions
 * and events refer to it as to other keys, and its revocation ends them.
 */
public final class FederatedIdentities {

    /** Instead of the beginning of a key. */
    public static final String PREFIX = "oidc";

    /** Maximum characters of a subject, as OpenID Connect has it. */
    public static final int MAX_SUBJECT = 255;

    private static final Pattern NOT_OF_NAMES = Pattern.compile("[^\\p{L}\\p{Nd}._@+-]+");
    private static final int MAX_NAME = 90;
    private static final int SUFFIX_BYTES = 4;

    private static final Sql LOCK =
            Sql.of("""
            select pg_advisory_xact_lock(hashtextextended(:workspace_id::text || ' ' || :issuer || ' ' || :subject, 0))""");

    private static final Sql FIND = Sql.of("""
            select i.key_id, i.valid_from, k.revoked_at, k.scopes, p.name, p.kind
              from federated_identities i
              join api_keys k on k.id = i.key_id
              join principals p on p.id = k.principal_id
             where i.workspace_id = :workspace_id and i.issuer = :issuer and i.subject = :subject""");

    private static final Sql PRINCIPAL = Sql.of("""
            insert into principals (workspace_id, kind, name) values (:workspace_id, :kind, :name)
            on conflict (workspace_id, name) do nothing""");

    private static final Sql KEY = Sql.of("""
            insert into api_keys (id, workspace_id, name, prefix, key_hash, principal_id, scopes, created_by)
            select :id, p.workspace_id, :title, :prefix, :key_hash, p.id, :scopes, p.name
              from principals p where p.workspace_id = :workspace_id and p.name = :name""");

    private static final Sql KEEP = Sql.of("""
            insert into federated_identities as i (workspace_id, issuer, subject, key_id)
            values (:workspace_id, :issuer, :subject, :key_id)
            on conflict (workspace_id, issuer, subject) do update
               set key_id = excluded.key_id,
                   valid_from = coalesce((select k.revoked_at from api_keys k where k.id = i.key_id), i.valid_from)""");

    private static final Sql SCOPES = Sql.of("update api_keys set scopes = :scopes where id = :id");

    /**
     * A subject that a provider vouches for.
     *
     * @param name that it wishes; unique names are made from it
     */
    public record Subject(String issuer, String subject, Principal.Kind kind, String name) {}

    /** @param revokedAt null while the key is active */
    private record Known(UUID keyId, Instant validFrom, @Nullable Instant revokedAt, List<String> scopes, String name,
            String kind) {}

    /**
     * A subject with a role.
     *
     * @param keyId holds the principal and the scopes
     */
    public record Admitted(UUID keyId, Principal principal) {}

    private final Database database;

    public FederatedIdentities(Database database) {
        this.database = database;
    }

    /**
     * Gives a subject its scopes in a workspace. The first time, it gets a principal.
     *
     * @param issuedAt of its token
     * @return empty if an administrator revoked the subject's key after the token was issued
     */
    public Optional<Admitted> admit(UUID workspace, Subject subject, Set<Scope> scopes, Instant issuedAt) {
        return Tenancy.within(workspace,
                () -> database.inTransaction(c -> admit(c, workspace, subject, scopes, issuedAt)));
    }

    private static Optional<Admitted> admit(Connection c, UUID workspace, Subject subject, Set<Scope> scopes,
            Instant issuedAt) throws SQLException {
        bound(LOCK, c, workspace, subject).exists();
        Known known = bound(FIND, c, workspace, subject).first(RecordColumns.of(Known.class)).orElse(null);
        if (known == null) {
            return Optional.of(create(c, workspace, subject, name(c, workspace, subject), scopes));
        }
        Instant from = known.revokedAt == null ? known.validFrom : known.revokedAt;
        if (!issuedAt.isAfter(from)) {
            return Optional.empty();
        }
        if (known.revokedAt != null) {
            return Optional.of(create(c, workspace, subject, known.name, scopes));
        }
        if (!known.scopes.equals(Scope.words(scopes))) {
            SCOPES.on(c).setTexts("scopes", Scope.words(scopes)).set("id", known.keyId).update();
        }
        return Optional.of(new Admitted(known.keyId, new Principal(Principal.Kind.of(known.kind), known.name)));
    }

    private static Admitted create(Connection c, UUID workspace, Subject subject, String name, Set<Scope> scopes)
            throws SQLException {
        UUID key = UUID.randomUUID();
        KEY.on(c).set("id", key).set("workspace_id", workspace).set("title", "sign-in at " + subject.issuer)
                .set("prefix", PREFIX).set("key_hash", ApiKeyFormat.hash(handle(key)))
                .setTexts("scopes", Scope.words(scopes)).set("name", name).update();
        bound(KEEP, c, workspace, subject).set("key_id", key).update();
        Principal principal = new Principal(subject.kind, name);
        var scopeNames = JsonNodeFactory.instance.arrayNode();
        Scope.words(scopes).forEach(scopeNames::add);
        AuditLog.write(c, new AuditOrigin(name, subject.kind.actor(), key, null), "identity_admitted", workspace,
                key.toString(), JsonNodeFactory.instance.objectNode().put("issuer", subject.issuer)
                        .put("subject", subject.subject).set("scopes", scopeNames));
        return new Admitted(key, principal);
    }

    /** A name that no other principal has: a person with another's name at the provider does not become that principal. */
    private static String name(Connection c, UUID workspace, Subject subject) throws SQLException {
        String cleaned = NOT_OF_NAMES.matcher(subject.name).replaceAll("-").replaceFirst("^[._@+-]+", "");
        String wished = cleaned.substring(0, Math.min(MAX_NAME, cleaned.length()));
        if (!wished.isEmpty() && !Principal.RESERVED.contains(wished.toLowerCase(Locale.ROOT))
                && insert(c, workspace, subject, wished)) {
            return wished;
        }
        byte[] digest = ApiKeyFormat.hash(subject.issuer + " " + subject.subject);
        String unique = (wished.isEmpty() ? "subject" : wished) + "-"
                + HexFormat.of().formatHex(digest, 0, SUFFIX_BYTES);
        if (!insert(c, workspace, subject, unique)) {
            throw new IllegalStateException("two subjects have the name " + unique);
        }
        return unique;
    }

    private static boolean insert(Connection c, UUID workspace, Subject subject, String name) throws SQLException {
        return PRINCIPAL.on(c).set("workspace_id", workspace).set("kind", subject.kind.wire()).set("name", name)
                .update() == 1;
    }

    private static Sql.Call bound(Sql sql, Connection c, UUID workspace, Subject subject) {
        return sql.on(c).set("workspace_id", workspace).set("issuer", subject.issuer).set("subject", subject.subject);
    }

    /** The text whose hash the key has. It has not the form of a key, so no request can send it. */
    static String handle(UUID key) {
        return "federated " + key;
    }
}
