package io.keelson.server.api.http.support;

import io.keelson.server.tenant.auth.Caller;

/** Tokens of services that callers send in place of an API key. */
public interface BearerTokens {

    /** How each JSON Web Token begins, and no API key. */
    String BEGIN = "eyJ";

    /** Refuses each token. */
    BearerTokens UNUSED = token -> {
        throw ApiProblem.of(ErrorCode.TOKEN_ISSUER_WRONG, "this server accepts no tokens of services");
    };

    /**
     * The holder of a token.
     *
     * @throws ApiProblem with the reason of a refusal
     */
    Caller caller(String token);
}
