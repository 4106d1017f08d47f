package io.keelson.server.auth;

import io.keelson.server.audit.AuditLog;
import io.keelson.server.db.Database;
import io.keelson.server.workspace.Workspaces;

/** Everything about who may call, in one hand. */
public record AuthServices(ApiKeys holders, KeyStore keys, Workspaces workspaces, AuditLog auditLog) {

    /** @param uses is told which keys are used */
    public static AuthServices of(Database database, ApiKeyUsage uses) {
        return new AuthServices(new ApiKeys(database, uses), new KeyStore(database), new Workspaces(database),
                new AuditLog(database));
    }
}
