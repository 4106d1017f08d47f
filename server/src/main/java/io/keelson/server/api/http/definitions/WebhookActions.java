package io.keelson.server.api.http.definitions;

import io.keelson.api.outlet.Webhook;
import io.keelson.api.outlet.WebhookDelivery;
import io.keelson.core.run.Ids;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ETag;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.ListPage;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.json.Json;
import io.keelson.server.outlet.webhook.Deliveries;
import io.keelson.server.outlet.webhook.Endpoints;
import io.keelson.server.tenant.auth.Scope;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.UUID;

/** Webhooks: only for a workspace's administrators, because events are sent to external systems. */
public final class WebhookActions {

    private final TestMessages tests = new TestMessages();
    private final Endpoints endpoints;
    private final Deliveries deliveries;
    private final ReceiverCheck check;
    private final Ids ids;

    public WebhookActions(Endpoints endpoints, Deliveries deliveries, ReceiverCheck check, Ids ids) {
        this.check = check;
        this.endpoints = endpoints;
        this.deliveries = deliveries;
        this.ids = ids;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.ADMIN, "/webhooks", this::list);
        table.post(Scope.ADMIN, "/webhooks", Webhook.Change.class, this::create);
        table.get(Scope.ADMIN, "/webhooks/{id}", this::show);
        table.patch(Scope.ADMIN, "/webhooks/{id}", Webhook.Change.class, this::change);
        table.delete(Scope.ADMIN, "/webhooks/{id}", this::remove);
        table.post(Scope.ADMIN, "/webhooks/{id}/rotate", this::rotate);
        table.post(Scope.ADMIN, "/webhooks/{id}/ping", this::ping);
        table.post(Scope.ADMIN, "/webhooks/{id}/redeliver", Webhook.Redelivery.class, this::redeliver);
        table.get(Scope.ADMIN, "/webhooks/{id}/deliveries", this::deliveries);
    }

    private ApiResponse list(ApiRequest request) {
        return new ListPage(request, "webhooks")
                .of(endpoints.list(request.workspace()).stream().map(Json::document).toList());
    }

    private ApiResponse create(ApiRequest request, Webhook.Change body) {
        check.require(request.workspace(), null, body);
        Webhook made = endpoints.create(request.workspace(), ids.next(), body, request.origin())
                .orElseThrow(() -> ApiProblem.of(ErrorCode.WEBHOOKS_LIMIT_REACHED,
                        "a workspace has at most " + Endpoints.MAX_ENDPOINTS + " webhooks"));
        return ApiResponse.created("/api/v1/webhooks/" + made.id(), Json.document(made))
                .header("Cache-Control", "no-store");
    }

    private ApiResponse show(ApiRequest request) {
        return answer(endpoint(request));
    }

    private ApiResponse change(ApiRequest request, Webhook.Change body) {
        UUID id = request.id("id", IdKind.WEBHOOK);
        return answer(Reads.found(endpoints.change(request.workspace(), id, body, request.origin(),
                current -> {
                    request.requireVersion(version(current), Json.document(current));
                    check.require(request.workspace(), current, body);
                }), IdKind.WEBHOOK, id));
    }

    private static ApiResponse answer(Webhook endpoint) {
        return ApiResponse.resource(Json.document(endpoint), version(endpoint));
    }

    private static String version(Webhook endpoint) {
        return ETag.version(endpoint.updatedAt());
    }

    private ApiResponse remove(ApiRequest request) {
        UUID id = request.id("id", IdKind.WEBHOOK);
        if (!endpoints.delete(request.workspace(), id, request.origin())) {
            throw IdKind.WEBHOOK.notFound(id);
        }
        return ApiResponse.empty(204);
    }

    private ApiResponse rotate(ApiRequest request) {
        UUID id = request.id("id", IdKind.WEBHOOK);
        return ApiResponse.ok(Json.document(
                Reads.found(endpoints.rotate(request.workspace(), id, request.origin()), IdKind.WEBHOOK, id)))
                .header("Cache-Control", "no-store");
    }

    private ApiResponse ping(ApiRequest request) {
        UUID endpoint = enabled(request);
        tests.count(request);
        UUID id = ids.next();
        deliveries.ping(request.workspace(), endpoint, id);
        return ApiResponse.ok(Json.document(new Webhook.Ping(Deliveries.wire(id))));
    }

    /** One delivery, all dead ones, or all that has happened since a time. */
    private ApiResponse redeliver(ApiRequest request, Webhook.Redelivery body) {
        UUID delivery = body.deliveryId();
        Instant from = body.from();
        if ((delivery != null ? 1 : 0) + (body.dead() ? 1 : 0) + (from != null ? 1 : 0) != 1) {
            throw ApiProblem.of("REQUIRED", "/delivery_id", "one of delivery_id, dead and from must be given");
        }
        UUID endpoint = enabled(request);
        if (delivery != null && !deliveries.again(request.workspace(), endpoint, delivery)) {
            throw IdKind.DELIVERY.notFound(delivery);
        }
        if (body.dead()) {
            deliveries.deadAgain(request.workspace(), endpoint);
        }
        if (from != null) {
            deliveries.replay(request.workspace(), endpoint, from, request.origin());
        }
        return ApiResponse.ok(Json.document(endpoint(request)));
    }

    private ApiResponse deliveries(ApiRequest request) {
        UUID id = request.id("id", IdKind.WEBHOOK);
        Query query = request.query();
        ListCursor cursor = new ListCursor("deliveries " + id);
        String state = query.text("state");
        Deliveries.Place after = cursor.read(query, WebhookActions::place);
        int limit = query.limit();
        endpoint(request);
        List<WebhookDelivery> found = deliveries.list(request.workspace(), id, state, after, limit + 1);
        WebhookDelivery last = found.size() <= limit ? null : found.get(limit - 1);
        return ApiResponse.ok(Lists.page(found.stream().limit(limit).map(Json::document).toList(),
                last == null ? null : cursor.write(last.createdAt() + " " + last.id())));
    }

    private static Deliveries.Place place(String text) {
        String[] parts = text.split(" ", 2);
        return new Deliveries.Place(Instant.parse(parts[0]), Objects.requireNonNull(IdKind.DELIVERY.parse(parts[1])));
    }

    private Webhook endpoint(ApiRequest request) {
        UUID id = request.id("id", IdKind.WEBHOOK);
        return Reads.found(endpoints.find(request.workspace(), id), IdKind.WEBHOOK, id);
    }

    private UUID enabled(ApiRequest request) {
        if (!endpoint(request).enabled()) {
            throw ApiProblem.of(ErrorCode.WEBHOOK_DISABLED, "enable the webhook first");
        }
        return request.id("id", IdKind.WEBHOOK);
    }
}
