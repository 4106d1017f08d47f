package io.keelson.server.api.http.definitions;

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
import io.keelson.server.outlet.webhook.Delivery;
import io.keelson.server.outlet.webhook.Endpoint;
import io.keelson.server.outlet.webhook.Endpoints;
import io.keelson.server.outlet.webhook.Topics;
import io.keelson.server.tenant.auth.Scope;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Webhooks: only for a workspace's administrators, because events are sent to external systems. */
public final class WebhookActions {

    /** Absent members stay unchanged; null removes the description or the channel, and of events it means all topics. */
    record WebhookChange(@Nullable String url, @Nullable Optional<String> description,
            @Nullable Optional<List<String>> events, @Nullable Optional<String> channel, @Nullable Boolean enabled) {}

    record Redelivery(@Nullable UUID deliveryId, boolean dead, @Nullable Instant from) {}

    private final Endpoints endpoints;
    private final Deliveries deliveries;
    private final Ids ids;

    public WebhookActions(Endpoints endpoints, Deliveries deliveries, Ids ids) {
        this.endpoints = endpoints;
        this.deliveries = deliveries;
        this.ids = ids;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.ADMIN, "/webhooks", this::list);
        table.post(Scope.ADMIN, "/webhooks", WebhookChange.class, this::create);
        table.get(Scope.ADMIN, "/webhooks/{id}", this::show);
        table.patch(Scope.ADMIN, "/webhooks/{id}", WebhookChange.class, this::change);
        table.delete(Scope.ADMIN, "/webhooks/{id}", this::remove);
        table.post(Scope.ADMIN, "/webhooks/{id}/rotate", this::rotate);
        table.post(Scope.ADMIN, "/webhooks/{id}/ping", this::ping);
        table.post(Scope.ADMIN, "/webhooks/{id}/redeliver", Redelivery.class, this::redeliver);
        table.get(Scope.ADMIN, "/webhooks/{id}/deliveries", this::deliveries);
    }

    private ApiResponse list(ApiRequest request) {
        return new ListPage(request, "webhooks")
                .of(endpoints.list(request.workspace()).stream().map(WebhookActions::document).toList());
    }

    private ApiResponse create(ApiRequest request, WebhookChange body) {
        Endpoint.Spec spec = spec(body);
        Endpoint.Spec whole = spec.events() != null ? spec
                : new Endpoint.Spec(spec.url(), spec.description(), false, Topics.names(), spec.channel(), false,
                        spec.enabled());
        Endpoint.WithSecret made = endpoints.create(request.workspace(), ids.next(), whole, request.origin())
                .orElseThrow(() -> ApiProblem.of(ErrorCode.WEBHOOKS_LIMIT_REACHED,
                        "a workspace has at most " + Endpoints.MAX_ENDPOINTS + " webhooks"));
        return ApiResponse.created("/api/v1/webhooks/" + made.endpoint().id(), document(made))
                .header("Cache-Control", "no-store");
    }

    private ApiResponse show(ApiRequest request) {
        return answer(endpoint(request));
    }

    private ApiResponse change(ApiRequest request, WebhookChange body) {
        UUID id = request.id("id", IdKind.WEBHOOK);
        Endpoint.Spec spec = spec(body);
        return answer(Reads.found(endpoints.change(request.workspace(), id, spec, request.origin(),
                current -> request.requireVersion(version(current), document(current))), IdKind.WEBHOOK, id));
    }

    private static ApiResponse answer(Endpoint endpoint) {
        return ApiResponse.resource(document(endpoint), version(endpoint));
    }

    private static String version(Endpoint endpoint) {
        return ETag.version(endpoint.updatedAt());
    }

    private static Endpoint.Spec spec(WebhookChange body) {
        return new Endpoint.Spec(body.url, given(body.description), removed(body.description),
                body.events == null ? null : events(body.events), given(body.channel), removed(body.channel),
                body.enabled);
    }

    private static List<String> events(Optional<List<String>> given) {
        return given.map(each -> each.stream().distinct().toList()).orElseGet(Topics::names);
    }

    private static @Nullable String given(@Nullable Optional<String> member) {
        return member == null ? null : member.orElse(null);
    }

    private static boolean removed(@Nullable Optional<String> member) {
        return member != null && member.isEmpty();
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
        return ApiResponse.ok(document(
                Reads.found(endpoints.rotate(request.workspace(), id, request.origin()), IdKind.WEBHOOK, id)))
                .header("Cache-Control", "no-store");
    }

    private ApiResponse ping(ApiRequest request) {
        Endpoint endpoint = enabled(request);
        UUID id = ids.next();
        deliveries.ping(request.workspace(), endpoint.id(), id);
        return ApiResponse.ok(Json.object().put("delivery_id", Delivery.wire(id)));
    }

    /** One delivery, all dead ones, or all that has happened since a time. */
    private ApiResponse redeliver(ApiRequest request, Redelivery body) {
        UUID delivery = body.deliveryId;
        Instant from = body.from;
        if ((delivery != null ? 1 : 0) + (body.dead ? 1 : 0) + (from != null ? 1 : 0) != 1) {
            throw ApiProblem.of("REQUIRED", "/delivery_id", "one of delivery_id, dead and from must be given");
        }
        Endpoint endpoint = enabled(request);
        if (delivery != null && !deliveries.again(request.workspace(), endpoint.id(), delivery)) {
            throw IdKind.DELIVERY.notFound(delivery);
        }
        if (body.dead) {
            deliveries.deadAgain(request.workspace(), endpoint.id());
        }
        if (from != null) {
            deliveries.replay(request.workspace(), endpoint.id(), from, request.origin());
        }
        return ApiResponse.ok(document(endpoint(request)));
    }

    private ApiResponse deliveries(ApiRequest request) {
        UUID id = request.id("id", IdKind.WEBHOOK);
        Query query = request.query();
        ListCursor cursor = new ListCursor("deliveries " + id);
        String state = query.text("state");
        Deliveries.Place after = cursor.read(query, WebhookActions::place);
        int limit = query.limit();
        Endpoint endpoint = endpoint(request);
        List<Delivery> found = deliveries.list(request.workspace(), endpoint.id(), state, after, limit + 1);
        Delivery last = found.size() <= limit ? null : found.get(limit - 1);
        return ApiResponse.ok(Lists.page(found.stream().limit(limit).map(WebhookActions::document).toList(),
                last == null ? null : cursor.write(last.createdAt() + " " + last.id())));
    }

    private static Deliveries.Place place(String text) {
        String[] parts = text.split(" ", 2);
        return new Deliveries.Place(Instant.parse(parts[0]), UUID.fromString(parts[1]));
    }

    private Endpoint endpoint(ApiRequest request) {
        UUID id = request.id("id", IdKind.WEBHOOK);
        return Reads.found(endpoints.find(request.workspace(), id), IdKind.WEBHOOK, id);
    }

    private Endpoint enabled(ApiRequest request) {
        Endpoint endpoint = endpoint(request);
        if (!endpoint.enabled()) {
            throw ApiProblem.of(ErrorCode.WEBHOOK_DISABLED, "enable the webhook first");
        }
        return endpoint;
    }

    private static ObjectNode document(Endpoint.WithSecret made) {
        return document(made.endpoint()).put("secret", made.secret());
    }

    private static ObjectNode document(Endpoint endpoint) {
        ObjectNode document = Json.object().put("id", endpoint.id().toString())
                .put("workspace_id", endpoint.workspaceId().toString()).put("url", endpoint.url())
                .put("description", endpoint.description());
        document.set("events", Json.strings(endpoint.events()));
        return document.put("channel", endpoint.channel()).put("enabled", endpoint.enabled())
                .put("disabled_reason", endpoint.disabledReason())
                .put("failing_since", time(endpoint.failingSince())).put("last_error", endpoint.lastError())
                .put("pending", endpoint.pending())
                .put("replaying", endpoint.replaying())
                .put("previous_secret_until", time(endpoint.previousUntil()))
                .put("created_at", time(endpoint.createdAt())).put("updated_at", time(endpoint.updatedAt()));
    }

    private static ObjectNode document(Delivery delivery) {
        return Json.object().put("id", Delivery.wire(delivery.id())).put("event_id", delivery.eventId())
                .put("type", delivery.type()).put("state", delivery.state()).put("attempts", delivery.attempts())
                .put("last_status", delivery.lastStatus()).put("last_error", delivery.lastError())
                .put("created_at", time(delivery.createdAt())).put("attempted_at", time(delivery.attemptedAt()))
                .put("completed_at", time(delivery.completedAt()));
    }

    private static @Nullable String time(@Nullable Instant time) {
        return Json.time(time);
    }
}
