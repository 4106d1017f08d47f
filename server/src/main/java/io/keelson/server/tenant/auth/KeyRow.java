package io.keelson.server.tenant.auth;

import java.time.Instant;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Data about a key, without the key.
 *
 * @param prefix how the key begins, so that users can distinguish keys
 * @param state {@code active}, {@code expired} or {@code revoked}
 * @param createdBy the principal's name; null if not recorded
 * @param expiresAt null for never
 * @param lastUsedAt to the minute; null for never
 * @param replacedBy the key that it was rotated into; null if absent
 */
public record KeyRow(UUID id, UUID workspaceId, String name, String prefix, Principal principal, Set<Scope> scopes,
        String state, Instant createdAt, @Nullable String createdBy, @Nullable Instant expiresAt,
        @Nullable Instant revokedAt, @Nullable Instant lastUsedAt, @Nullable UUID replacedBy) {

    public KeyRow {
        scopes = Set.copyOf(scopes);
    }

    /** Whether it is the key of a subject of an identity provider, which has no text. */
    public boolean federated() {
        return prefix.equals(FederatedIdentities.PREFIX);
    }

    public boolean active() {
        return state.equals("active");
    }
}
