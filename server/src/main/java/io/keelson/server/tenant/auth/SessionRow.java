package io.keelson.server.tenant.auth;

import java.time.Instant;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A browser that is signed in. Never its cookie.
 *
 * @param keyId the key whose session it is; it ends with the key
 * @param scopes a subset of the key's scopes
 * @param fromAddress of the peer that signed in; null if unknown
 * @param lastUsedAt to the minute
 * @param endsAt when it ends without further use
 */
public record SessionRow(UUID id, UUID workspaceId, UUID keyId, Principal principal, Set<Scope> scopes,
        @Nullable String fromAddress, Instant createdAt, Instant lastUsedAt, Instant endsAt) {

    public SessionRow {
        scopes = Set.copyOf(scopes);
    }
}
