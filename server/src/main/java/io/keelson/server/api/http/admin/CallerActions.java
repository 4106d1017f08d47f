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
import io.keelson.server.tenant.auth.SessionRow;
import io.keelson.server.work.model.registry.WorkspaceModels;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import tools.jackson.databind.node.ObjectNode;

/** The caller, its permissions, and the principals that work can be assigned to. */
public final class CallerActions {

    private final AuthServices auth;
    private final Database database;
    private final WorkspaceModels models;
    private final String version;
    private final boolean dashboard;

    /**
     * @param version of the server
     * @param dashboard whether it serves one
     */
    public CallerActions(AuthServices auth, Database database, WorkspaceModels models, String version,
            boolean dashboard) {
        this.auth = auth;
        this.database = database;
        this.models = models;
        this.version = version;
        this.dashboard = dashboard;
    }

    public void addTo(Route.Table table) {
        table.getByAnyKey("/whoami", this::whoAmI);
        table.get(Scope.RUNS_READ, "/principals", this::principals);
    }

    private ApiResponse whoAmI(ApiRequest request) {
        UUID id = request.workspace();
        UUID session = request.sessionId();
        String name = Reads.found(auth.workspaces().find(id), IdKind.WORKSPACE, id).name();
        ApiKey key = KeyActions.shown(
                Reads.found(auth.keys().find(id, request.keyId()), IdKind.API_KEY, request.keyId()), null);
        Session shown = session == null ? null
                : auth.sessions().find(id, session).map(row -> SessionActions.shown(row, session)).orElse(null);
        return ApiResponse.ok(Json.document(new WhoAmI(new WhoAmI.Workspace(id.toString(), name), key, shown,
                Scope.words(request.scopes()), database.withConnection(DbClock::now).toEpochMilli(), version,
                features()))).header("Cache-Control", "no-store");
    }

    private List<String> features() {
        List<String> features = new ArrayList<>();
        if (dashboard) {
            features.add("dashboard");
        }
        if (!models.configured().all().isEmpty()) {
            features.add("models");
        }
        return features;
    }

    private ApiResponse principals(ApiRequest request) {
        return Lists.wholeOf(auth.keys().principals(request.workspace()));
    }
}
