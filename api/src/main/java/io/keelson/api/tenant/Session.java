package io.keelson.api.tenant;

import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Ref;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A browser that is signed in.
 *
 * @param id id of the resource
 * @param workspaceId id of its workspace
 * @param keyId the API key that it belongs to
 * @param principal name of the principal
 * @param principalKind kind of the principal
 * @param scopes scopes of the session
 * @param fromAddress the address that signed in
 * @param createdAt time of its creation
 * @param lastUsedAt to the minute
 * @param endsAt if it is used no more
 * @param current whether it is the session of this request
 */
public record Session(@Id String id, @Id String workspaceId, @Id String keyId, String principal,
        @OneOf({
                "person", "service"}) String principalKind,
        List<@Ref("Scope") String> scopes,
        @Nullable String fromAddress, Instant createdAt, Instant lastUsedAt, Instant endsAt, boolean current) {

    public Session {
        scopes = List.copyOf(scopes);
    }
}
