package io.keelson.server.auth;

import io.keelson.server.db.Database;

/** Everything about who may call, in one hand. */
public record Access(ApiKeys holders, KeyStore keys, Workspaces workspaces, Audit audit) {

    /** @param uses is told which keys are used */
    public static Access of(Database database, KeyUses uses) {
        return new Access(new ApiKeys(database, uses), new KeyStore(database), new Workspaces(database),
                new Audit(database));
    }
}
