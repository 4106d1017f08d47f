package io.keelson.server.auth;

import io.keelson.server.audit.AuditLog;
import io.keelson.server.db.Database;
import io.keelson.server.workspace.Workspaces;

/** The services of authentication and authorisation. */
public record AuthServices(ApiKeys holders, KeyStore keys, Workspaces workspaces, AuditLog auditLog) {

    /** @param uses records the use of keys */
    public static AuthServices of(Database database, ApiKeyUsage uses) {
        return new AuthServices(new ApiKeys(database, uses), new KeyStore(database), new Workspaces(database),
                new AuditLog(database));
    }
}
