package io.keelson.server.api.http.definitions;

import io.keelson.api.tenant.SavedView;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.ListPage;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.view.SavedViews;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.SafeText;
import io.keelson.server.tenant.auth.Scope;
import java.util.Optional;

/**
 * Saved views: a caller's own views, and the workspace's shared views, which require {@code runs:write} for changes.
 */
public final class ViewActions {

    private static final int LONGEST_NAME = 100;

    private final SavedViews views;

    public ViewActions(SavedViews views) {
        this.views = views;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/views", this::list);
        table.get(Scope.RUNS_READ, "/views/{name}", this::show);
        table.put(Scope.RUNS_READ, "/views/{name}", SavedView.New.class, this::save);
        table.delete(Scope.RUNS_READ, "/views/{name}", this::remove);
    }

    private ApiResponse list(ApiRequest request) {
        String page = request.query().text("page");
        ListPage part = new ListPage(request, "views " + page);
        return part.of(views.list(request.workspace(), principal(request), page).stream().map(Json::document)
                .toList());
    }

    /** Shows the caller's own view; the shared view if the caller has none by that name, or requests it. */
    private ApiResponse show(ApiRequest request) {
        String name = name(request);
        Optional<SavedView> own = request.query().flag("shared") ? Optional.empty()
                : views.find(request.workspace(), principal(request), false, name);
        return ApiResponse.resource(Json.document(own
                .or(() -> views.find(request.workspace(), principal(request), true, name))
                .orElseThrow(() -> notFound(name))));
    }

    private ApiResponse save(ApiRequest request, SavedView.New body) {
        String name = name(request);
        require(request, body.shared());
        return ApiResponse.ok(Json.document(views
                .save(request.workspace(), principal(request), body.shared(), name, body.page(), body.query())
                .orElseThrow(() -> ApiProblem.of(ErrorCode.VIEWS_LIMIT_REACHED,
                        "at most " + SavedViews.MAX_VIEWS + " views can be saved"))));
    }

    private ApiResponse remove(ApiRequest request) {
        String name = name(request);
        boolean shared = request.query().flag("shared");
        require(request, shared);
        if (!views.delete(request.workspace(), principal(request), shared, name)) {
            throw notFound(name);
        }
        return ApiResponse.empty(204);
    }

    private static void require(ApiRequest request, boolean shared) {
        if (shared) {
            request.require(Scope.RUNS_WRITE);
        }
    }

    private static String principal(ApiRequest request) {
        return String.valueOf(request.actor().id());
    }

    private static String name(ApiRequest request) {
        String name = request.pathText("name");
        if (name.isBlank() || name.length() > LONGEST_NAME || !SafeText.clean(name).equals(name)) {
            throw ApiProblem.of(ErrorCode.INVALID_ID, "'" + Excerpt.piece(name)
                    + "' is not the name of a view: 1 to " + LONGEST_NAME + " characters");
        }
        return name;
    }

    private static ApiProblem notFound(String name) {
        return ApiProblem.of(ErrorCode.VIEW_NOT_FOUND, "no view '" + name + "'");
    }
}
