package io.keelson.server.api.http.definitions;

import io.keelson.api.tenant.Secret;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.ListPage;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Scope;
import io.keelson.server.tenant.secret.SecretStore;
import java.util.List;
import java.util.regex.Pattern;
import tools.jackson.databind.node.ObjectNode;

/** Secrets: set, named and removed, never shown. */
public final class SecretActions {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]{1,100}");

    private final SecretStore secrets;

    public SecretActions(SecretStore secrets) {
        this.secrets = secrets;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.ADMIN, "/secrets", this::list);
        table.put(Scope.ADMIN, "/secrets/{name}", Secret.Value.class, this::set);
        table.delete(Scope.ADMIN, "/secrets/{name}", this::remove);
    }

    private ApiResponse list(ApiRequest request) {
        ListPage page = new ListPage(request, "secrets");
        List<ObjectNode> shown = secrets.list(request.workspace()).stream().map(Json::document).toList();
        return page.of(shown);
    }

    private ApiResponse set(ApiRequest request, Secret.Value body) {
        String name = name(request);
        return ApiResponse.ok(Json.document(secrets.set(request.workspace(), name, body.value(), request.origin())));
    }

    private ApiResponse remove(ApiRequest request) {
        String name = name(request);
        if (!secrets.remove(request.workspace(), name, request.origin())) {
            throw ApiProblem.of(ErrorCode.SECRET_NOT_FOUND, "the workspace has no secret '" + name + "'");
        }
        return ApiResponse.empty(204);
    }

    private static String name(ApiRequest request) {
        String name = request.pathText("name");
        if (!NAME.matcher(name).matches()) {
            throw ApiProblem.of(ErrorCode.INVALID_ID, "'" + Excerpt.piece(name)
                    + "' is not a valid secret name: 1 to 100 letters, digits, '.', '_' and '-'");
        }
        return name;
    }
}
