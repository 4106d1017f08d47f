package io.keelson.server.annex.effect;

import io.keelson.api.work.Deployment;
import io.keelson.api.work.Order;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Scope;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Deployments and orders: created and ended by commands, read from their providers. */
final class DeploymentOrderActions {

    private final CommandHandler handler;
    private final CommandAnswers answers;

    DeploymentOrderActions(CommandHandler handler, CommandAnswers answers) {
        this.handler = handler;
        this.answers = answers;
    }

    void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/deployments", call -> list(call, ResourceKind.DEPLOYMENT));
        table.post(Scope.RUNS_WRITE, "/deployments", Deployment.New.class, this::deploy);
        table.get(Scope.RUNS_READ, "/deployments/{id}", call -> one(call, ResourceKind.DEPLOYMENT));
        table.post(Scope.RUNS_WRITE, "/deployments/{id}/stop",
                apiRequest -> end(apiRequest, ResourceKind.DEPLOYMENT, CommandTypes.DEPLOYMENT_STOP));
        table.get(Scope.RUNS_READ, "/orders", call -> list(call, ResourceKind.ORDER));
        table.post(Scope.RUNS_WRITE, "/orders", Order.New.class, this::order);
        table.get(Scope.RUNS_READ, "/orders/{id}", request -> one(request, ResourceKind.ORDER));
        table.post(Scope.RUNS_WRITE, "/orders/{id}/cancel",
                call -> end(call, ResourceKind.ORDER, CommandTypes.ORDER_CANCEL));
    }

    private ApiResponse deploy(ApiRequest request, Deployment.New body) throws InterruptedException {
        ObjectNode payload = Json.object().put("strategy", body.strategy());
        if (body.mode() != null) {
            payload.put("mode", body.mode());
        }
        decimal("capital", body.capital(), payload);
        if (body.config() != null) {
            payload.set("config", body.config());
        }
        return make(request, CommandTypes.DEPLOYMENT_CREATE, payload, "/api/v1/deployments/");
    }

    private ApiResponse order(ApiRequest request, Order.New body) throws InterruptedException {
        ObjectNode payload =
                Json.object().put("symbol", body.symbol()).put("side", body.side()).put("type", body.type());
        decimal("quantity", body.quantity(), payload);
        boolean market = body.type().equals("market");
        if (market && body.limitPrice() != null) {
            throw ApiProblem.of("INVALID_VALUE", "/limit_price", "a market order has no limit price");
        }
        if (!market && body.limitPrice() == null) {
            throw ApiProblem.of("REQUIRED", "/limit_price", "'limit_price' must be given");
        }
        decimal("limit_price", body.limitPrice(), payload);
        return make(request, CommandTypes.ORDER_PLACE, payload, "/api/v1/orders/");
    }

    private static void decimal(String key, @Nullable String text, ObjectNode into) {
        if (text == null) {
            return;
        }
        if (!Payloads.isDecimal(text)) {
            throw ApiProblem.of("INVALID_VALUE", "/" + key, "must be a decimal above 0 as a string, such as \"1.5\","
                    + " with at most 18 digits before and after the point");
        }
        into.put(key, text);
    }

    private ApiResponse make(ApiRequest request, String type, ObjectNode payload, String place)
            throws InterruptedException {
        return answers.answer(request, type, Payloads.normal(payload), null, true, command -> place + command.id(),
                command -> CommandDocuments.made(command, command.response()));
    }

    private ApiResponse end(ApiRequest request, ResourceKind kind, String type) throws InterruptedException {
        UUID id = request.id("id", CommandAnswers.kind(kind));
        EffectCommand maker = maker(request, kind, id);
        return answers.answer(request, type, Json.object(), id, false, null,
                command -> CommandDocuments.made(maker, command.response())
                        .put("command_id", command.id().toString()));
    }

    private ApiResponse one(ApiRequest request, ResourceKind kind) throws InterruptedException {
        UUID id = request.id("id", CommandAnswers.kind(kind));
        EffectCommand maker = maker(request, kind, id);
        return ApiResponse.resource(CommandDocuments.made(maker, now(request, kind, List.of(maker)).get(id)));
    }

    private ApiResponse list(ApiRequest request, ResourceKind kind) throws InterruptedException {
        Query query = request.query();
        ListCursor cursor = new ListCursor(kind.word() + "s");
        UUID before = cursor.read(query, UUID::fromString);
        int limit = query.limit();
        Page<EffectCommand> found = handler.list(request.workspace(), kind.madeBy(),
                EffectCommand.State.COMPLETED.wire(), null, before, limit);
        Map<UUID, ObjectNode> now = now(request, kind, found.items());
        return ApiResponse.ok(Lists.page(found, cursor, maker -> maker.id().toString(),
                maker -> CommandDocuments.made(maker, now.get(maker.id()))));
    }

    private Map<UUID, ObjectNode> now(ApiRequest request, ResourceKind kind, List<EffectCommand> makers)
            throws InterruptedException {
        try {
            return handler.read(request.workspace(), kind, makers);
        } catch (ProviderUnavailableException e) {
            throw ApiProblem.of(ErrorCode.PROVIDER_UNAVAILABLE, Objects.requireNonNullElse(e.getMessage(), ""))
                    .header("Retry-After", "5");
        }
    }

    private EffectCommand maker(ApiRequest request, ResourceKind kind, UUID id) {
        return handler.maker(request.workspace(), kind, id)
                .orElseThrow(() -> CommandAnswers.kind(kind).notFound(id));
    }
}
