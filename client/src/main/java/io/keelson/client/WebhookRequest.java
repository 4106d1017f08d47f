package io.keelson.client;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** A webhook to create, or what to change of one. Members that are not set get their default, or stay. */
public final class WebhookRequest {

    private final ObjectNode body = Json.object();

    private WebhookRequest() {}

    /** @param url http or https, without user, password and fragment, or {@code mailto:} and a mail address */
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

    /** {@code slack}, {@code teams} or {@code mail}: messages for people instead of signed JSON. */
    public WebhookRequest format(String value) {
        body.put("format", value);
        return this;
    }

    /** Name of the principal that answers questions by the links of messages; null for no such links. */
    public WebhookRequest recipient(@Nullable String value) {
        body.put("recipient", value);
        return this;
    }

    /**
     * Hours of each day in which messages wait. Null for all three removes them.
     *
     * @param from as {@code 22:00}
     * @param until as {@code 07:00}
     * @param timeZone such as {@code Europe/Berlin}
     */
    public WebhookRequest quietHours(@Nullable String from, @Nullable String until, @Nullable String timeZone) {
        body.put("quiet_from", from);
        body.put("quiet_until", until);
        body.put("time_zone", timeZone);
        return this;
    }

    /** Minutes for which messages are gathered in one; 0 for a message each. */
    public WebhookRequest digestMinutes(int value) {
        body.put("digest_minutes", value);
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
