package io.keelson.server.api.http.admin;

import io.keelson.api.work.Health;
import io.keelson.core.lifecycle.LifecycleDocument;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.ListPage;
import io.keelson.server.api.http.support.Obstacle;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.WentBack;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.history.DatabaseHistory;
import io.keelson.server.tenant.auth.Scope;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The engine about itself. */
public final class EngineActions {

    private static final List<ObjectNode> LIFECYCLES = LifecycleDocument.all().stream().map(Json::tree).toList();

    private final Supplier<@Nullable Obstacle> obstacle;
    private final DatabaseHistory history;
    private final Reads reads;
    private final Supplier<ObjectNode> openApi;

    /** @param obstacle why no runs can be taken at the moment; gives null if they can */
    public EngineActions(Supplier<@Nullable Obstacle> obstacle, DatabaseHistory history, Reads reads,
            Supplier<ObjectNode> openApi) {
        this.obstacle = obstacle;
        this.history = history;
        this.reads = reads;
        this.openApi = openApi;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/lifecycles", this::lifecycles);
        table.get(Scope.RUNS_READ, "/lifecycles/{name}", this::lifecycle);
        table.getOpen("/healthz", apiRequest -> health("ok"));
        table.getOpen("/readyz", call -> ready());
        table.getOpen("/openapi.json", request -> ApiResponse.resource(openApi.get()));
    }

    private ApiResponse lifecycles(ApiRequest request) {
        return new ListPage(request, "lifecycles").of(LIFECYCLES);
    }

    private ApiResponse lifecycle(ApiRequest request) {
        String name = request.pathText("name");
        return LifecycleDocument.find(name).map(Json::tree).map(ApiResponse::resource)
                .orElseThrow(
                        () -> ApiProblem.of(ErrorCode.LIFECYCLE_NOT_FOUND, "no lifecycle '" + Excerpt.piece(name) + "'")
                                .allowing(LifecycleDocument.names()));
    }

    private ApiResponse ready() {
        WentBack.require(history);
        Obstacle found = obstacle.get();
        if (found == null && !reads.answer()) {
            found = new Obstacle(ErrorCode.NOT_READY, "the database does not respond");
        }
        if (found != null) {
            throw ApiProblem.of(found.code(), found.detail()).header("Retry-After", "1");
        }
        return health("ready");
    }

    private static ApiResponse health(String status) {
        return ApiResponse.ok(Json.document(new Health(status)));
    }
}
