package io.keelson.server.annex.oidc;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The provider at which people sign in.
 *
 * @param issuer as its tokens name it
 * @param clientSecret null for a public client
 * @param scopes that sign-in requests
 * @param groupsClaim claim with the groups of a person
 * @param nameClaim claim with the name of a person
 * @param roles of groups
 */
public record OidcSettings(String issuer, String clientId, @Nullable String clientSecret, List<String> scopes,
        String groupsClaim, String nameClaim, RoleGrants roles) {

    public OidcSettings {
        scopes = List.copyOf(scopes);
    }

    /** Without the secret. */
    @Override
    public String toString() {
        return "OidcSettings[" + issuer + ", " + clientId + "]";
    }
}
