package io.keelson.client;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A key to create.
 *
 * @param name the purpose of the key
 * @param principal who acts with it; the key's name when null
 * @param principalKind {@code person} or {@code service}; null for the existing principal's kind, or a service
 * @param scopes at least one
 * @param lifetime whole seconds; null for no end
 */
public record ApiKeyRequest(String name, @Nullable String principal, @Nullable String principalKind,
        List<String> scopes, @Nullable Duration lifetime) {

    public ApiKeyRequest {
        scopes = List.copyOf(scopes);
    }

    ObjectNode document() {
        ObjectNode document = Json.object().put("name", name).put("principal", principal)
                .put("principal_kind", principalKind)
                .put("expires_in_seconds", lifetime == null ? null : Long.valueOf(lifetime.toSeconds()));
        scopes.forEach(document.putArray("scopes")::add);
        return document;
    }
}
