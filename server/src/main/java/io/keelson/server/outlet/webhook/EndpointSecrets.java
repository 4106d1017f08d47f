package io.keelson.server.outlet.webhook;

import io.keelson.server.tenant.secret.SecretStore;
import java.util.UUID;

/** Encrypts endpoints' secrets for the database, bound to their endpoint. */
record EndpointSecrets(SecretStore secrets) {

    SecretStore.Sealed seal(UUID endpoint, SigningSecret secret) {
        return secrets.seal(secret.text(), context(endpoint));
    }

    SigningSecret open(UUID endpoint, SecretStore.Sealed sealed) {
        return new SigningSecret(secrets.open(sealed, context(endpoint)));
    }

    /** The secret sealed under the current key; unchanged if its own key is unknown. */
    SecretStore.Sealed reencrypted(UUID endpoint, SecretStore.Sealed sealed) {
        return secrets.knows(sealed.keyId()) ? seal(endpoint, open(endpoint, sealed)) : sealed;
    }

    private static String context(UUID endpoint) {
        return "webhook of " + endpoint;
    }
}
