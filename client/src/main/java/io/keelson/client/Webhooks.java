package io.keelson.client;

import io.keelson.api.outlet.Webhook;
import io.keelson.api.outlet.WebhookDelivery;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Receivers of a workspace's events. Every method throws {@link KeelsonException} as {@link Api} says. */
public final class Webhooks {

    private final Api api;

    Webhooks(Api api) {
        this.api = api;
    }

    /** All of them, oldest first. */
    public List<Webhook> list() {
        return Page.of(api.get("/webhooks"), Webhook.class).items();
    }

    /** Reads a webhook. */
    public Webhook get(String id) {
        return webhook(Call.get(RequestPath.of("/webhooks/", id)));
    }

    /** Has events sent to a URL from now on. The answer alone has the secret. */
    public Webhook create(WebhookRequest request) {
        return webhook(Call.post("/webhooks", request.body()));
    }

    /** Changes the members that the request sets. */
    public Webhook change(String id, WebhookRequest request) {
        return webhook(Call.patch(RequestPath.of("/webhooks/", id), request.body()));
    }

    /** A new secret, which the answer alone has; for a day deliveries are signed with the one before, too. */
    public Webhook rotate(String id) {
        return webhook(Call.post(RequestPath.of("/webhooks/", id, "/rotate"), Json.object()));
    }

    /**
     * Queues a test delivery.
     *
     * @return its id
     */
    public String ping(String id) {
        return api.send(Call.post(RequestPath.of("/webhooks/", id, "/ping"), Json.object())).body().path("delivery_id")
                .asString("");
    }

    /**
     * Newest first, at most so many.
     *
     * @param state {@code pending}, {@code delivered} or {@code dead}; null for all
     */
    public List<WebhookDelivery> deliveries(String id, @Nullable String state, int limit) {
        RequestPath route = RequestPath.of("/webhooks/", id, "/deliveries").with("state", state).with("limit", limit);
        return Page.of(api.get(route.toString()), WebhookDelivery.class).items();
    }

    /** Delivers one once more, under the same id. */
    public Webhook redeliver(String id, String delivery) {
        return again(id, Json.object().put("delivery_id", delivery));
    }

    /** Delivers all dead ones once more. */
    public Webhook redeliverDead(String id) {
        return again(id, Json.object().put("dead", true));
    }

    /**
     * Delivers the events since an instant once more, including events from a time when the webhook was disabled or did
     * not exist.
     */
    public Webhook replay(String id, Instant from) {
        return again(id, Json.object().put("from", from.toString()));
    }

    /** With its deliveries. */
    public void delete(String id) {
        api.send(Call.of("DELETE", RequestPath.of("/webhooks/", id), null));
    }

    private Webhook again(String id, JsonNode body) {
        return webhook(Call.post(RequestPath.of("/webhooks/", id, "/redeliver"), body).repeatable());
    }

    private Webhook webhook(Call call) {
        return Json.document(api.send(call).body(), Webhook.class);
    }

    /** Receivers of messages for the caller: own mailboxes, and receivers of the workspace with the caller as recipient. */
    public List<Webhook> own() {
        return Page.of(api.get("/notifications"), Webhook.class).items();
    }

    /** Changes events, quiet hours, digest, description or state of a receiver of {@link #own}. */
    public Webhook changeOwn(String id, WebhookRequest request) {
        return webhook(Call.patch(RequestPath.of("/notifications/", id), request.body()));
    }

    /** Deletes a mailbox that the caller has added. */
    public void deleteOwn(String id) {
        api.send(Call.of("DELETE", RequestPath.of("/notifications/", id), null));
    }
}
