package io.keelson.client;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A browser that is signed in.
 *
 * @param keyId the API key that it belongs to
 * @param fromAddress the address that signed in; null where it is not known
 * @param lastUsedAt to the minute
 * @param endsAt when it ends if it is used no more
 * @param current whether it is that of the request
 */
public record Session(String id, String workspaceId, String keyId, String principal, String principalKind,
        List<String> scopes, @Nullable String fromAddress, Instant createdAt, Instant lastUsedAt, Instant endsAt,
        boolean current) {

    public Session {
        scopes = List.copyOf(scopes);
    }
}
