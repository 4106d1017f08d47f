package io.keelson.server.api.http.admin;

import io.keelson.api.tenant.ApiKey;
import io.keelson.api.tenant.Session;
import io.keelson.api.tenant.WhoAmI;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.AuthServices;
import io.keelson.server.tenant.auth.Scope;
import java.util.List;
import java.util.UUID;

/** The caller, its permissions, and the principals that work can be assigned to. */
public final class CallerActions {

    private final AuthServices auth;
    private final Database database;
    private final List<String> features;
    private final String version;

    /**
     * @param features abilities that not each server has
     * @param version of the server
     */
    public CallerActions(AuthServices auth, Database database, List<String> features, String version) {
        this.auth = auth;
        this.database = database;
        this.features = features;
        this.version = version;
    }

    public void addTo(Route.Table table) {
        table.getByAnyKey("/whoami", this::whoAmI);
        table.get(Scope.RUNS_READ, "/principals", this::principals);
    }

    private ApiResponse whoAmI(ApiRequest request) {
        UUID id = request.workspace();
        UUID session = request.sessionId();
        String name = Reads.found(auth.workspaces().find(id), IdKind.WORKSPACE, id).name();
        ApiKey key = KeyActions.apiKey(
                Reads.found(auth.keys().find(id, request.keyId()), IdKind.API_KEY, request.keyId()), null);
        Session shown = session == null ? null
                : auth.sessions().find(id, session).map(row -> SessionActions.sessionOf(row, session)).orElse(null);
        return ApiResponse.ok(Json.document(new WhoAmI(new WhoAmI.Workspace(id.toString(), name), key, shown,
                Scope.words(request.scopes()), database.withConnection(DbClock::now).toEpochMilli(), version,
                features))).header("Cache-Control", "no-store");
    }

    private ApiResponse principals(ApiRequest request) {
        return Lists.wholeOf(auth.keys().principals(request.workspace()));
    }
}
