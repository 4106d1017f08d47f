package io.keelson.server.annex.oidc;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.tenant.auth.FederatedIdentities;
import java.text.ParseException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks tokens of one issuer: signature, issuer, audience and times, with a code of its own for each reason of a refusal. */
final class Tokens {

    /** Maximum characters of a token. */
    static final int MAX_LENGTH = 16_384;

    /** Difference of clocks that is accepted. */
    static final Duration SKEW = Duration.ofSeconds(60);

    /** Algorithms with public keys: a token that names another one, such as {@code none} or {@code HS256}, is refused. */
    private static final Set<JWSAlgorithm> ALGORITHMS = Set.of(JWSAlgorithm.RS256, JWSAlgorithm.RS384,
            JWSAlgorithm.RS512, JWSAlgorithm.PS256, JWSAlgorithm.PS384, JWSAlgorithm.PS512, JWSAlgorithm.ES256,
            JWSAlgorithm.ES384, JWSAlgorithm.ES512);

    /** Types of tokens: ID tokens, access tokens of RFC 9068, and logout tokens. */
    private static final Set<JOSEObjectType> TYPES = Set.of(JOSEObjectType.JWT, new JOSEObjectType("at+jwt"),
            new JOSEObjectType("logout+jwt"));

    private final String issuer;
    private final Clock clock;
    private final DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();

    Tokens(String issuer, JWKSource<SecurityContext> keys, Clock clock) {
        this.issuer = issuer;
        this.clock = clock;
        processor.setJWSKeySelector(new JWSVerificationKeySelector<>(ALGORITHMS, keys));
        Set<JOSEObjectType> types = new HashSet<>(TYPES);
        types.add(null);
        processor.setJWSTypeVerifier(new DefaultJOSEObjectTypeVerifier<>(types));
        // Our own checks of the claims name the reason.
        processor.setJWTClaimsSetVerifier((claims, context) -> {});
    }

    /**
     * The claims of a token.
     *
     * @param audience that the token must have
     * @throws ApiProblem {@code TOKEN_INVALID}, {@code TOKEN_ISSUER_WRONG}, {@code TOKEN_AUDIENCE_WRONG}, {@code TOKEN_EXPIRED},
     *     {@code TOKEN_NOT_YET_VALID}, {@code SIGN_IN_PROVIDER_UNAVAILABLE}
     */
    JWTClaimsSet verify(String token, String audience) {
        JWTClaimsSet claims = signed(token);
        if (!issuer.equals(claims.getIssuer())) {
            throw ApiProblem.of(ErrorCode.TOKEN_ISSUER_WRONG, "the token is of another issuer than " + issuer);
        }
        if (!claims.getAudience().contains(audience)) {
            throw ApiProblem.of(ErrorCode.TOKEN_AUDIENCE_WRONG, "the token is not for the audience " + audience);
        }
        requireTimes(claims);
        String subject = claims.getSubject();
        if (subject != null && (subject.isBlank() || subject.length() > FederatedIdentities.MAX_SUBJECT)) {
            throw invalid("it has no usable subject");
        }
        return claims;
    }

    private void requireTimes(JWTClaimsSet claims) {
        Instant now = clock.instant();
        Date expires = claims.getExpirationTime();
        Date issued = claims.getIssueTime();
        Date begins = claims.getNotBeforeTime();
        if (expires == null || issued == null) {
            throw invalid("it does not say when it was issued and when it ends");
        }
        if (!now.isBefore(expires.toInstant().plus(SKEW))) {
            throw ApiProblem.of(ErrorCode.TOKEN_EXPIRED, "the token ended at " + expires.toInstant());
        }
        Instant latest = now.plus(SKEW);
        if (issued.toInstant().isAfter(latest) || begins != null && begins.toInstant().isAfter(latest)) {
            throw ApiProblem.of(ErrorCode.TOKEN_NOT_YET_VALID,
                    "the token is not valid yet: compare the clocks of the provider and this server, " + now);
        }
    }

    private JWTClaimsSet signed(String token) {
        if (token.length() > MAX_LENGTH) {
            throw invalid("it has more than " + MAX_LENGTH + " characters");
        }
        try {
            return processor.process(SignedJWT.parse(token), null);
        } catch (KeySourceException e) {
            throw ApiProblem.of(ErrorCode.SIGN_IN_PROVIDER_UNAVAILABLE, "the keys of the provider cannot be read")
                    .header("Retry-After", "10");
        } catch (ParseException | BadJOSEException e) {
            throw invalid(String.valueOf(e.getMessage()));
        } catch (JOSEException e) {
            throw invalid("its signature cannot be checked");
        }
    }

    private static ApiProblem invalid(String why) {
        return ApiProblem.of(ErrorCode.TOKEN_INVALID, "the token is refused: " + why);
    }

    /** A claim that is a text; null if it is absent or no text. */
    static @Nullable String text(JWTClaimsSet claims, String name) {
        return claims.getClaim(name) instanceof String text && !text.isBlank() ? text : null;
    }

    /** A claim that is a text or a list of texts; other values are ignored. */
    static List<String> texts(@Nullable Object claim) {
        return switch (claim) {
            case String text -> List.of(text);
            case Collection<?> many -> many.stream().filter(String.class::isInstance).map(String.class::cast).toList();
            case null, default -> List.of();
        };
    }
}
