package io.keelson.server.http;

import io.keelson.core.lifecycle.EventType;
import io.keelson.core.run.Ids;
import io.keelson.server.auth.Scope;
import io.keelson.server.plan.Nearest;
import io.keelson.server.webhook.Deliveries;
import io.keelson.server.webhook.Delivery;
import io.keelson.server.webhook.Endpoint;
import io.keelson.server.webhook.Endpoints;
import io.keelson.server.webhook.Topics;
import io.keelson.server.webhook.WebhookRoom;
import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Receivers of events: for a workspace's administrators, as what they get leaves the house. */
final class WebhookActions {

    private static final int MAX_URL = 2_048;
    private static final int MAX_DESCRIPTION = 500;
    private static final int MAX_CHANNEL = 200;
    private static final int MAX_EVENT = 60;
    private static final int MOST_EVENTS = 100;
    private static final List<String> EVENTS = Stream.of(Stream.of(Topics.ALL), Topics.names().stream(),
            Arrays.stream(EventType.values()).map(EventType::wire)).flatMap(Function.identity()).toList();
    private static final List<String> STATES = List.of("pending", "delivered", "dead");

    private final Endpoints endpoints;
    private final Deliveries deliveries;
    private final Ids ids;

    WebhookActions(WebhookRoom room, Ids ids) {
        this.endpoints = room.endpoints();
        this.deliveries = room.deliveries();
        this.ids = ids;
    }

    void addTo(Route.Table table) {
        table.get(Scope.ADMIN, "/webhooks", this::list);
        table.post(Scope.ADMIN, "/webhooks", this::create);
        table.get(Scope.ADMIN, "/webhooks/{id}", this::show);
        table.patch(Scope.ADMIN, "/webhooks/{id}", this::change);
        table.delete(Scope.ADMIN, "/webhooks/{id}", this::remove);
        table.post(Scope.ADMIN, "/webhooks/{id}/rotate", this::rotate);
        table.post(Scope.ADMIN, "/webhooks/{id}/ping", this::ping);
        table.post(Scope.ADMIN, "/webhooks/{id}/redeliver", this::redeliver);
        table.get(Scope.ADMIN, "/webhooks/{id}/deliveries", this::deliveries);
    }

    private Answer list(Call call) {
        return new Portion(call, "webhooks")
                .of(endpoints.list(call.workspace()).stream().map(WebhookActions::document).toList());
    }

    private Answer create(Call call) throws IOException {
        call.query().done();
        Fields fields = call.fields();
        fields.text("url", MAX_URL);
        Endpoint.Wish wish = wish(fields);
        fields.done();
        Endpoint.Wish whole = wish.events() != null ? wish
                : new Endpoint.Wish(wish.url(), wish.description(), false, Topics.names(), wish.channel(), false,
                        wish.enabled());
        Endpoint.WithSecret made = endpoints.create(call.workspace(), ids.next(), whole, call.origin())
                .orElseThrow(() -> Refusal.of(ErrorCode.WEBHOOKS_LIMIT_REACHED,
                        "a workspace has at most " + Endpoints.MOST + " webhooks"));
        return Answer.created("/api/v1/webhooks/" + made.endpoint().id(), document(made))
                .header("Cache-Control", "no-store");
    }

    private Answer show(Call call) {
        call.query().done();
        return Answer.resource(document(endpoint(call)));
    }

    private Answer change(Call call) throws IOException {
        call.query().done();
        UUID id = call.id("id", IdKind.WEBHOOK);
        Fields fields = call.fields();
        Endpoint.Wish wish = wish(fields);
        fields.done();
        return Answer.ok(document(
                Reads.found(endpoints.change(call.workspace(), id, wish, call.origin()), IdKind.WEBHOOK, id)));
    }

    private static Endpoint.Wish wish(Fields fields) {
        String url = fields.optionalText("url", MAX_URL);
        if (url != null && !url.isBlank() && !Endpoint.usable(url)) {
            fields.problem("INVALID_VALUE", "url",
                    "must be an http or https URL with a host, without user and password or a fragment");
        }
        List<String> events = fields.has("events") ? fields.texts("events", MOST_EVENTS, MAX_EVENT) : null;
        for (int i = 0; events != null && i < events.size(); i++) {
            if (!EVENTS.contains(events.get(i))) {
                fields.problem("INVALID_VALUE", "events/" + i, "must be one of " + String.join(", ", Topics.names())
                        + ", the type of an event such as step_failed, or *" + Nearest.hint(events.get(i), EVENTS));
            }
        }
        String channel = fields.optionalText("channel", MAX_CHANNEL);
        if (channel != null && channel.isBlank()) {
            fields.problem("EMPTY", "channel", "'channel' may not be blank");
        }
        return new Endpoint.Wish(url, fields.optionalText("description", MAX_DESCRIPTION),
                fields.clears("description"), events == null ? null : events.stream().distinct().toList(), channel,
                fields.clears("channel"),
                fields.has("enabled") ? Boolean.valueOf(fields.flag("enabled", true)) : null);
    }

    private Answer remove(Call call) throws IOException {
        call.query().done();
        call.fields().done();
        UUID id = call.id("id", IdKind.WEBHOOK);
        if (!endpoints.delete(call.workspace(), id, call.origin())) {
            throw IdKind.WEBHOOK.notFound(id);
        }
        return Answer.empty(204);
    }

    private Answer rotate(Call call) throws IOException {
        call.query().done();
        call.fields().done();
        UUID id = call.id("id", IdKind.WEBHOOK);
        return Answer.ok(document(
                Reads.found(endpoints.rotate(call.workspace(), id, call.origin()), IdKind.WEBHOOK, id)))
                .header("Cache-Control", "no-store");
    }

    private Answer ping(Call call) throws IOException {
        call.query().done();
        call.fields().done();
        Endpoint endpoint = enabled(call);
        UUID id = ids.next();
        deliveries.ping(call.workspace(), endpoint.id(), id);
        return Answer.ok(Json.object().put("delivery_id", Delivery.wire(id)));
    }

    /** One delivery, all dead ones, or all that has happened since a time. */
    private Answer redeliver(Call call) throws IOException {
        call.query().done();
        Fields fields = call.fields();
        UUID delivery = fields.has("delivery_id") ? fields.id("delivery_id", IdKind.DELIVERY) : null;
        boolean dead = fields.flag("dead", false);
        Instant from = fields.optionalTime("from");
        if ((fields.has("delivery_id") ? 1 : 0) + (dead ? 1 : 0) + (fields.has("from") ? 1 : 0) != 1) {
            fields.problem("REQUIRED", "delivery_id", "one of delivery_id, dead and from must be given");
        }
        fields.done();
        Endpoint endpoint = enabled(call);
        if (delivery != null && !deliveries.again(call.workspace(), endpoint.id(), delivery)) {
            throw IdKind.DELIVERY.notFound(delivery);
        }
        if (dead) {
            deliveries.deadAgain(call.workspace(), endpoint.id());
        }
        if (from != null) {
            deliveries.replay(call.workspace(), endpoint.id(), from, call.origin());
        }
        return Answer.ok(document(endpoint(call)));
    }

    private Answer deliveries(Call call) {
        UUID id = call.id("id", IdKind.WEBHOOK);
        Query query = call.query();
        Cursor cursor = new Cursor("deliveries " + id);
        String state = query.word("state", STATES);
        Deliveries.Place after = cursor.read(query, WebhookActions::place);
        int limit = query.limit();
        query.done();
        Endpoint endpoint = endpoint(call);
        List<Delivery> found = deliveries.list(call.workspace(), endpoint.id(), state, after, limit + 1);
        Delivery last = found.size() <= limit ? null : found.get(limit - 1);
        return Answer.ok(Lists.page(found.stream().limit(limit).map(WebhookActions::document).toList(),
                last == null ? null : cursor.write(last.createdAt() + " " + last.id())));
    }

    private static Deliveries.Place place(String text) {
        String[] parts = text.split(" ", 2);
        return new Deliveries.Place(Instant.parse(parts[0]), UUID.fromString(parts[1]));
    }

    private Endpoint endpoint(Call call) {
        UUID id = call.id("id", IdKind.WEBHOOK);
        return Reads.found(endpoints.find(call.workspace(), id), IdKind.WEBHOOK, id);
    }

    private Endpoint enabled(Call call) {
        Endpoint endpoint = endpoint(call);
        if (!endpoint.enabled()) {
            throw Refusal.of(ErrorCode.WEBHOOK_DISABLED, "nothing is delivered to it until it is enabled again");
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
