package io.keelson.server.tenant.auth;

import io.keelson.server.base.db.Database;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.workspace.WorkspaceStore;

/** The services of authentication and authorisation. */
public record AuthServices(ApiKeyLookup holders, KeyStore keys, SessionStore sessions, WorkspaceStore workspaces,
        AuditLog auditLog) {

    /** @param uses records the use of keys */
    public static AuthServices of(Database database, ApiKeyUsage uses) {
        return new AuthServices(new ApiKeyLookup(database, uses), new KeyStore(database), new SessionStore(database),
                new WorkspaceStore(database), new AuditLog(database));
    }
}
