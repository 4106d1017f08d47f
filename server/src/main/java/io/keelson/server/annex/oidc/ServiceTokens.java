package io.keelson.server.annex.oidc;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.BearerTokens;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.tenant.auth.ApiKeyLookup;
import io.keelson.server.tenant.auth.Caller;
import io.keelson.server.tenant.auth.FederatedIdentities;
import io.keelson.server.tenant.auth.Principal;
import io.keelson.server.tenant.auth.Role;
import io.keelson.server.tenant.workspace.WorkspaceStore;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.text.ParseException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Callers of the API with tokens of services: of an OpenID provider, or of service accounts of Kubernetes. */
final class ServiceTokens implements BearerTokens {

    /** Changes of keys and roles count after it, as for API keys. */
    private static final Duration CACHE_TIME = Duration.ofSeconds(3);
    private static final int MAX_CACHED = 10_000;

    /**
     * An issuer of tokens.
     *
     * @param grants roles of its subjects
     */
    record Issuer(String name, Tokens tokens, RoleGrants grants) {}

    private record Verified(UUID keyId, Instant ends) {}

    private final String audience;
    private final Map<String, Issuer> issuers;
    private final FederatedIdentities identities;
    private final WorkspaceStore workspaces;
    private final ApiKeyLookup holders;
    private final Clock clock;
    private final Cache<ByteBuffer, Verified> verified =
            Caffeine.newBuilder().maximumSize(MAX_CACHED).expireAfterWrite(CACHE_TIME).build();

    ServiceTokens(String audience, List<Issuer> issuers, FederatedIdentities identities, WorkspaceStore workspaces,
            ApiKeyLookup holders, Clock clock) {
        this.audience = audience;
        this.issuers = issuers.stream().collect(Collectors.toMap(Issuer::name, each -> each));
        this.identities = identities;
        this.workspaces = workspaces;
        this.holders = holders;
        this.clock = clock;
    }

    @Override
    public Caller caller(String token) {
        ByteBuffer hash = hash(token);
        Verified known = verified.getIfPresent(hash);
        if (known == null || !clock.instant().isBefore(known.ends)) {
            known = verify(token);
            verified.put(hash, known);
        }
        Caller caller = holders.federated(known.keyId);
        if (caller == null) {
            throw revoked();
        }
        return caller;
    }

    private Verified verify(String token) {
        Issuer issuer = issuer(token);
        JWTClaimsSet claims = issuer.tokens.verify(token, audience);
        String subject = claims.getSubject();
        Set<String> names = subject == null ? Set.of() : issuer.grants.workspaces(List.of(subject));
        if (subject == null || names.isEmpty()) {
            throw roleMissing(subject);
        }
        // The settings give a service roles in one workspace.
        String name = names.iterator().next();
        UUID workspace = workspaces.open(names).get(name);
        if (workspace == null) {
            throw roleMissing(subject);
        }
        return identities
                .admit(workspace,
                        new FederatedIdentities.Subject(issuer.name, subject, Principal.Kind.SERVICE, subject),
                        Role.scopes(issuer.grants.roles(List.of(subject), name)), claims.getIssueTime().toInstant())
                .map(admitted -> new Verified(admitted.keyId(), claims.getExpirationTime().toInstant()
                        .plus(Tokens.SKEW)))
                .orElseThrow(ServiceTokens::revoked);
    }

    /** The issuer that the token names. Its signature is unchecked so far. */
    private Issuer issuer(String token) {
        String name;
        try {
            name = token.length() > Tokens.MAX_LENGTH ? null : SignedJWT.parse(token).getJWTClaimsSet().getIssuer();
        } catch (ParseException e) {
            name = null;
        }
        if (name == null) {
            throw ApiProblem.of(ErrorCode.TOKEN_INVALID, "the token is refused: it is no signed token of at most "
                    + Tokens.MAX_LENGTH + " characters with an issuer");
        }
        Issuer issuer = issuers.get(name);
        if (issuer == null) {
            throw ApiProblem.of(ErrorCode.TOKEN_ISSUER_WRONG,
                    "this server accepts no tokens of services of that issuer");
        }
        return issuer;
    }

    private static ApiProblem roleMissing(@Nullable String subject) {
        return ApiProblem.of(ErrorCode.SIGN_IN_ROLE_MISSING,
                "the subject " + subject + " has no role in an open workspace");
    }

    private static ApiProblem revoked() {
        return ApiProblem.of(ErrorCode.TOKEN_REVOKED,
                "an administrator revoked the key of this subject: get a new token");
    }

    private static ByteBuffer hash(String token) {
        try {
            return ByteBuffer.wrap(
                    MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
