package io.keelson.client;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** A webhook to create, or what to change of one. Members that are not set get their default, or stay. */
public final class WebhookRequest {

    private final ObjectNode body = Json.object();

    private WebhookRequest() {}

    /** @param url http or https, without user, password and fragment */
    public static WebhookRequest to(String url) {
        return change().url(url);
    }

    /** Nothing yet; for changes. */
    public static WebhookRequest change() {
        return new WebhookRequest();
    }

    /** Sets the address that receives the events. */
    public WebhookRequest url(String value) {
        body.put("url", value);
        return this;
    }

    /** Topics such as {@code run.failed}, types of events such as {@code step_failed}, or {@code *}; by default all topics. */
    public WebhookRequest events(Iterable<String> values) {
        body.set("events", Json.of(values));
        return this;
    }

    /** Only runs that name it in {@code config.notifications.channel}; null for all runs. */
    public WebhookRequest channel(@Nullable String value) {
        body.put("channel", value);
        return this;
    }

    /** For people; null if absent. */
    public WebhookRequest description(@Nullable String value) {
        body.put("description", value);
        return this;
    }

    /** Sets whether deliveries are sent. */
    public WebhookRequest enabled(boolean value) {
        body.put("enabled", value);
        return this;
    }

    ObjectNode body() {
        return body;
    }
}
