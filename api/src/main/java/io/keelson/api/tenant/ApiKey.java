package io.keelson.api.tenant;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Absent;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Ref;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An API key without its secret.
 *
 * @param id id of the resource
 * @param workspaceId id of its workspace
 * @param name name of the principal
 * @param prefix how the key begins
 * @param principal the principal that acts with the key, as named in events
 * @param principalKind kind of the principal
 * @param scopes scopes of the key
 * @param state state of the key
 * @param createdAt time of its creation
 * @param createdBy name of the principal that created it
 * @param expiresAt end of its validity; null if absent
 * @param revokedAt time of its revocation; null before it
 * @param lastUsedAt to the minute
 * @param replacedBy the key that it was rotated into
 * @param key the key itself; only in the answer to its creation or rotation
 */
public record ApiKey(@Id String id, @Id String workspaceId, String name, String prefix, String principal,
        @OneOf({
                "person", "service"}) String principalKind,
        List<@Ref("Scope") String> scopes,
        @OneOf({"active", "expired", "revoked"}) String state, Instant createdAt, @Nullable String createdBy,
        @Nullable Instant expiresAt, @Nullable Instant revokedAt, @Nullable Instant lastUsedAt,
        @Nullable @Id String replacedBy,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String key) {

    public ApiKey {
        scopes = Absent.asEmpty(scopes);
    }

    /** Without the key. */
    @Override
    public String toString() {
        return "ApiKey[" + id + ", " + name + ", " + state + "]";
    }
}
