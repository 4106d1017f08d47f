package io.keelson.server.tenant.auth;

import io.keelson.server.tenant.audit.AuditOrigin;
import io.keelson.server.tenant.workspace.Limits;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The holder of an API key, or of a session of one.
 *
 * @param workspaceId the one workspace that the key opens
 * @param principal the actor in events
 * @param closed whether the workspace is closed, which disables its keys
 * @param limits the workspace's
 * @param sessionId the session that was shown; null where the key itself was
 */
public record Caller(UUID keyId, UUID workspaceId, Principal principal, Set<Scope> scopes, boolean closed,
        Limits limits, @Nullable UUID sessionId) {

    public Caller {
        scopes = Set.copyOf(scopes);
    }

    /** @param address of the peer */
    public AuditOrigin from(String address) {
        return new AuditOrigin(principal.name(), principal.kind().actor(), keyId, address);
    }
}
