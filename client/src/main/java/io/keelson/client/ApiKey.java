package io.keelson.client;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An API key without its secret.
 *
 * @param prefix how the key begins
 * @param principal who acts with it, as events name them
 * @param principalKind {@code person} or {@code service}
 * @param state {@code active}, {@code expired} or {@code revoked}
 * @param expiresAt null for never
 * @param lastUsedAt to the minute; null for never
 * @param replacedBy the key that it was rotated into; null when it was not
 * @param key the key itself, in the answer that made it and nowhere else
 */
public record ApiKey(String id, String workspaceId, String name, String prefix, String principal, String principalKind,
        List<String> scopes, String state, @Nullable Instant createdAt, @Nullable String createdBy,
        @Nullable Instant expiresAt, @Nullable Instant revokedAt, @Nullable Instant lastUsedAt,
        @Nullable String replacedBy, @Nullable String key) {

    public ApiKey {
        scopes = scopes == null ? List.of() : List.copyOf(scopes);
    }

    /** Without the key. */
    @Override
    public String toString() {
        return "ApiKey[" + id + ", " + name + ", " + state + "]";
    }
}
