package io.keelson.server.api.http.admin;

import io.keelson.api.tenant.DatabaseLoss;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.WentBack;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.history.DatabaseLosses;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.auth.Scope;
import java.util.List;

/** Times that the database went back, and their acceptance. */
public final class DatabaseActions {

    private final Database database;

    public DatabaseActions(Database database) {
        this.database = database;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.OPERATOR, "/database/losses", this::list);
        table.post(Scope.OPERATOR, WentBack.ACCEPT, this::accept);
    }

    private ApiResponse list(ApiRequest request) {
        return Lists.wholeOf(database.withConnection(DatabaseLosses::list));
    }

    private ApiResponse accept(ApiRequest request) {
        List<DatabaseLoss> accepted = database.inTransaction(c -> {
            List<DatabaseLoss> found = DatabaseLosses.accept(c, request.origin().name());
            for (DatabaseLoss loss : found) {
                AuditLog.write(c, request.origin(), "database_accepted", request.workspace(), loss.id().toString(),
                        Json.object().put("read_after", loss.readAfter()).put("commits", loss.commits()));
            }
            return found;
        });
        return Lists.wholeOf(accepted);
    }
}
