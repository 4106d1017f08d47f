package io.keelson.server.webhook;

import io.keelson.server.secret.Secrets;
import java.util.UUID;

/** Endpoints' secrets as the database keeps them: sealed as all secrets are, bound to their endpoint. */
record EndpointSecrets(Secrets secrets) {

    Secrets.Sealed seal(UUID endpoint, SigningSecret secret) {
        return secrets.seal(secret.text(), context(endpoint));
    }

    SigningSecret open(UUID endpoint, Secrets.Sealed sealed) {
        return new SigningSecret(secrets.open(sealed, context(endpoint)));
    }

    /** The same under the present key; as it is where its own key is not known. */
    Secrets.Sealed anew(UUID endpoint, Secrets.Sealed sealed) {
        return secrets.knows(sealed.keyId()) ? seal(endpoint, open(endpoint, sealed)) : sealed;
    }

    private static String context(UUID endpoint) {
        return "webhook of " + endpoint;
    }
}
