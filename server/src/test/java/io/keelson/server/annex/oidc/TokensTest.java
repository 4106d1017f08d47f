package io.keelson.server.annex.oidc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import io.keelson.server.api.http.support.ApiProblem;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Date;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tokens that a provider would never issue, or not for this server. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TokensTest {

    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
    private static final String ISSUER = "https://id.example";

    private RSAKey key;
    private RSAKey foreign;
    private Tokens tokens;

    @BeforeAll
    void keys() throws JOSEException {
        key = new RSAKeyGenerator(2048).keyID("one").generate();
        foreign = new RSAKeyGenerator(2048).keyID("one").generate();
        tokens = new Tokens(ISSUER, new ImmutableJWKSet<>(new JWKSet(key.toPublicJWK())),
                Clock.fixed(NOW, ZoneOffset.UTC));
    }

    private static JWTClaimsSet.Builder claims() {
        return new JWTClaimsSet.Builder().issuer(ISSUER).audience("us").subject("ann")
                .issueTime(Date.from(NOW)).expirationTime(Date.from(NOW.plusSeconds(300)));
    }

    private String signed(JWTClaimsSet claims) throws JOSEException {
        return signed(claims, JWSAlgorithm.RS256, JOSEObjectType.JWT, new RSASSASigner(key));
    }

    private static String signed(JWTClaimsSet claims, JWSAlgorithm algorithm, JOSEObjectType type, JWSSigner signer)
            throws JOSEException {
        SignedJWT token = new SignedJWT(new JWSHeader.Builder(algorithm).keyID("one").type(type).build(), claims);
        token.sign(signer);
        return token.serialize();
    }

    private void refuses(String token, String code) {
        assertThatThrownBy(() -> tokens.verify(token, "us")).isInstanceOfSatisfying(ApiProblem.class,
                problem -> assertThat(problem.code()).isEqualTo(code));
    }

    @Test
    void acceptsATokenForUs() throws Exception {
        assertThat(tokens.verify(signed(claims().build()), "us").getSubject()).isEqualTo("ann");
        assertThat(tokens.verify(signed(claims().audience(List.of("them", "us")).build()), "us").getSubject())
                .isEqualTo("ann");
    }

    @ParameterizedTest
    @CsvSource({"-300, 59, true", "-300, -59, true", "-300, -60, false", "60, 300, true"})
    void timesMayDifferByAMinute(long issued, long expires, boolean accepted) throws Exception {
        String token = signed(claims().issueTime(Date.from(NOW.plusSeconds(issued)))
                .expirationTime(Date.from(NOW.plusSeconds(expires))).build());

        if (accepted) {
            assertThat(tokens.verify(token, "us")).isNotNull();
        } else {
            refuses(token, "TOKEN_EXPIRED");
        }
    }

    @Test
    void namesTheReasonOfARefusal() throws Exception {
        refuses(signed(claims().issuer("https://other.example").build()), "TOKEN_ISSUER_WRONG");
        refuses(signed(claims().audience("them").build()), "TOKEN_AUDIENCE_WRONG");
        refuses(signed(claims().issueTime(Date.from(NOW.plusSeconds(61))).build()), "TOKEN_NOT_YET_VALID");
        refuses(signed(claims().notBeforeTime(Date.from(NOW.plusSeconds(61))).build()), "TOKEN_NOT_YET_VALID");
        refuses(signed(claims().expirationTime(null).build()), "TOKEN_INVALID");
        refuses(signed(claims().subject("s".repeat(256)).build()), "TOKEN_INVALID");
        refuses(signed(claims().claim("large", "x".repeat(20_000)).build()), "TOKEN_INVALID");
    }

    @Test
    void refusesOtherKeysAndAlgorithms() throws Exception {
        refuses(signed(claims().build(), JWSAlgorithm.RS256, JOSEObjectType.JWT, new RSASSASigner(foreign)),
                "TOKEN_INVALID");
        refuses(new PlainJWT(claims().build()).serialize(), "TOKEN_INVALID");
        // The public key as the secret of an HMAC, which a verifier that trusts the header would accept.
        refuses(signed(claims().build(), JWSAlgorithm.HS256, JOSEObjectType.JWT,
                new MACSigner(key.toRSAPublicKey().getEncoded())), "TOKEN_INVALID");
        refuses(signed(claims().build(), JWSAlgorithm.RS256, new JOSEObjectType("dpop+jwt"), new RSASSASigner(key)),
                "TOKEN_INVALID");
        String whole = signed(claims().build());
        refuses(whole.substring(0, whole.length() - 4) + "AAAA", "TOKEN_INVALID");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "..", "a.b.c", "eyJhbGciOiJub25lIn0.e30.", "\u0000"})
    void refusesOtherTexts(String text) {
        refuses(text, "TOKEN_INVALID");
    }
}
