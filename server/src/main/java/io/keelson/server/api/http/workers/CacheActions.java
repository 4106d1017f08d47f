package io.keelson.server.api.http.workers;

import io.keelson.api.work.CachedResult;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ListPage;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.queue.ResultCache;
import io.keelson.server.tenant.auth.Scope;

/** Results that steps take over from other runs. */
public final class CacheActions {
    private final Database database;
    private final ResultCache results = new ResultCache(DbClock.DATABASE);

    public CacheActions(Database database) {
        this.database = database;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/cache", this::list);
        table.post(Scope.ADMIN, "/cache/clear", CachedResult.Clear.class, this::clear);
    }

    private ApiResponse list(ApiRequest request) {
        ListPage page = new ListPage(request, "cache");
        String tool = request.query().text("tool");
        Page<CachedResult> found = database.withConnection(
                c -> results.list(c, request.workspace(), tool, page.from(), page.limit()));
        return page.part(new Page<>(found.items().stream().map(Json::document).toList(), found.more()));
    }

    private ApiResponse clear(ApiRequest request, CachedResult.Clear which) {
        String sha256 = which.key() == null ? null : Json.digest(which.key());
        return ApiResponse.ok(Json.document(new CachedResult.Cleared(database.inTransaction(
                c -> results.clear(c, request.workspace(), which.tool(), sha256, request.origin())))));
    }
}
