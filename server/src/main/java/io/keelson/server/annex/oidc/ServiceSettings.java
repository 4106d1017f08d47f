package io.keelson.server.annex.oidc;

import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tokens of services that the API accepts.
 *
 * @param audience that each token has
 */
public record ServiceSettings(String audience, List<Issuer> issuers) {

    /** How subjects of service accounts begin. */
    public static final String KUBERNETES = "system:serviceaccount:";

    /**
     * An issuer.
     *
     * @param keys address or file of its keys; null for the address of its description
     * @param roles of its subjects
     */
    public record Issuer(String name, @Nullable URI keys, RoleGrants roles) {}

    public ServiceSettings {
        issuers = List.copyOf(issuers);
    }
}
