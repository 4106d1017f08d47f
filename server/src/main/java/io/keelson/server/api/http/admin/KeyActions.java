package io.keelson.server.api.http.admin;

import io.keelson.api.tenant.ApiKey;
import io.keelson.api.tenant.KeyRotation;
import io.keelson.api.tenant.NewApiKey;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.IssuedKey;
import io.keelson.server.tenant.auth.KeyResult;
import io.keelson.server.tenant.auth.KeyRow;
import io.keelson.server.tenant.auth.KeyStore;
import io.keelson.server.tenant.auth.NewKey;
import io.keelson.server.tenant.auth.Principal;
import io.keelson.server.tenant.auth.Scope;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** API keys of the caller's workspace and, for operators, of any. A caller cannot create a key with more scopes than its own. */
public final class KeyActions {

    private final KeyStore keys;

    public KeyActions(KeyStore keys) {
        this.keys = keys;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.ADMIN, "/api-keys", call -> list(call, call.workspace()));
        table.post(Scope.ADMIN, "/api-keys", NewApiKey.class,
                (request, body) -> create(request, body, request.workspace(), true));
        table.post(Scope.ADMIN, "/api-keys/{id}/rotate", KeyRotation.class, (request, body) -> rotate(request, body,
                request.workspace(), request.id("id", IdKind.API_KEY), true));
        table.post(Scope.ADMIN, "/api-keys/{id}/revoke",
                apiRequest -> revoke(apiRequest, apiRequest.workspace(), apiRequest.id("id", IdKind.API_KEY)));
        table.get(Scope.OPERATOR, "/workspaces/{id}/api-keys", call -> list(call, call.id("id", IdKind.WORKSPACE)));
        table.post(Scope.OPERATOR, "/workspaces/{id}/api-keys", NewApiKey.class,
                (request, body) -> create(request, body, request.id("id", IdKind.WORKSPACE), false));
        table.post(Scope.OPERATOR, "/workspaces/{id}/api-keys/{key}/rotate", KeyRotation.class,
                (request, body) -> rotate(request, body, request.id("id", IdKind.WORKSPACE),
                        request.id("key", IdKind.API_KEY), false));
        table.post(Scope.OPERATOR, "/workspaces/{id}/api-keys/{key}/revoke",
                call -> revoke(call, call.id("id", IdKind.WORKSPACE), call.id("key", IdKind.API_KEY)));
    }

    private ApiResponse list(ApiRequest request, UUID workspace) {
        Query query = request.query();
        ListCursor cursor = new ListCursor("api-keys");
        UUID after = cursor.read(query, UUID::fromString);
        int limit = query.limit();
        List<KeyRow> found = keys.list(workspace, after, limit + 1);
        List<ObjectNode> shown = found.stream().limit(limit).map(KeyActions::document).toList();
        return ApiResponse.ok(Lists.page(shown,
                found.size() <= limit ? null : cursor.write(shown.getLast().get("id").stringValue())));
    }

    private ApiResponse create(ApiRequest request, NewApiKey body, UUID workspace, boolean own) {
        NewKey wanted = wanted(body);
        if (Principal.RESERVED.contains(wanted.principal().toLowerCase(Locale.ROOT))) {
            if (!workspace.equals(Bootstrap.DEFAULT_WORKSPACE)) {
                throw ApiProblem.of("NAME_RESERVED", "/principal",
                        "'" + Excerpt.piece(wanted.principal()) + "' is reserved for keys that the server creates");
            }
            request.require(Scope.OPERATOR);
        }
        if (wanted.scopes().contains(Scope.OPERATOR) && !workspace.equals(Bootstrap.DEFAULT_WORKSPACE)) {
            throw ApiProblem.of("INVALID_VALUE", "/scopes",
                    "only keys of the first workspace can have the scope operator");
        }
        if (own) {
            wanted.scopes().forEach(request::require);
            if (keys.operates(workspace, wanted.principal())) {
                request.require(Scope.OPERATOR);
            }
        }
        return answer(keys.create(workspace, wanted, request.origin()), workspace, null);
    }

    private static NewKey wanted(NewApiKey body) {
        if (body.principal() == null && !Principal.NAME.matcher(body.name()).matches()) {
            throw ApiProblem.of("REQUIRED", "/principal",
                    "'principal' is required, because the key's name is not a valid principal");
        }
        String owner = body.principal() == null ? body.name() : body.principal();
        String kind = body.principalKind();
        return new NewKey(body.name(), owner,
                kind == null ? null : Principal.Kind.valueOf(kind.toUpperCase(Locale.ROOT)),
                body.scopes().stream().map(word -> Scope.of(word).orElseThrow())
                        .collect(Collectors.toCollection(() -> EnumSet.noneOf(Scope.class))),
                body.expiresInSeconds() == null ? null : Duration.ofSeconds(body.expiresInSeconds()));
    }

    private ApiResponse rotate(ApiRequest request, KeyRotation body, UUID workspace, UUID id, boolean own) {
        Duration overlap = Duration.ofSeconds(body.overlapSeconds());
        if (own) {
            keys.find(workspace, id).ifPresent(old -> old.scopes().forEach(request::require));
        }
        return answer(keys.rotate(workspace, id, overlap, request.origin()), workspace, id);
    }

    private ApiResponse revoke(ApiRequest request, UUID workspace, UUID id) {
        return ApiResponse.ok(document(Reads.found(keys.revoke(workspace, id, request.origin()), IdKind.API_KEY, id)));
    }

    private static ApiResponse answer(KeyResult result, UUID workspace, @Nullable UUID key) {
        return switch (result) {
            case KeyResult.Issued(IssuedKey issued) -> ApiResponse.created("/api/v1/api-keys",
                    document(issued.row(), issued.text())).header("Cache-Control", "no-store");
            case KeyResult.OtherKind(Principal principal) -> throw ApiProblem.of(ErrorCode.PRINCIPAL_EXISTS, "'"
                    + Excerpt.piece(principal.name()) + "' is a " + principal.kind().wire() + " here");
            case KeyResult.NotActive(KeyRow row) -> throw ApiProblem.of(ErrorCode.KEY_NOT_ACTIVE,
                    row.replacedBy() != null ? "the key was already rotated"
                            : row.active() ? "the identity provider keeps this key; it cannot be rotated"
                                    : "the key is " + row.state());
            case KeyResult.NoWorkspace n -> throw IdKind.WORKSPACE.notFound(workspace);
            case KeyResult.NoKey n -> throw IdKind.API_KEY.notFound(key == null ? workspace : key);
        };
    }

    private static ObjectNode document(KeyRow key) {
        return document(key, null);
    }

    private static ObjectNode document(KeyRow key, @Nullable String text) {
        return Json.document(apiKey(key, text));
    }

    /** @param text the key itself; null if it is not shown */
    static ApiKey apiKey(KeyRow key, @Nullable String text) {
        return new ApiKey(key.id().toString(), key.workspaceId().toString(), key.name(), key.prefix(),
                key.principal().name(), key.principal().kind().wire(), Scope.words(key.scopes()), key.state(),
                key.createdAt(), key.createdBy(), key.expiresAt(), key.revokedAt(), key.lastUsedAt(),
                Objects.toString(key.replacedBy(), null), text);
    }
}
