package io.keelson.api.outlet;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import io.keelson.api.Shape.Text;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A receiver of a workspace's events.
 *
 * @param id id of the resource
 * @param workspaceId id of its workspace
 * @param url address that receives the events; {@code mailto:} and a mail address for the format {@code mail}
 * @param format form of the deliveries: {@code standard} is signed JSON, the others are messages for people
 * @param description text for people
 * @param events topics and types of events
 * @param channel channel of the runs; null for all
 * @param recipient name of the principal that answers by the links of messages; null for messages without such links
 * @param owner name of the principal that added it for itself, the {@code recipient}; null for a receiver of the workspace
 * @param quietFrom beginning of the hours without messages, as {@code 22:00}; null if absent
 * @param quietUntil end of these hours
 * @param timeZone time zone of these hours
 * @param digestMinutes minutes for which messages are gathered in one; 0 for a message each
 * @param enabled whether deliveries are sent
 * @param disabledReason {@code gone}: the receiver answered 410, or a service for messages 404, or its owner has no active key with the scope {@code
 *     runs:read} any more; {@code failing}: it took nothing for too long
 * @param failingSince when the first attempt failed since the last success
 * @param lastError why the last attempt failed; null after a success
 * @param pending number of pending deliveries
 * @param replaying earlier events are still being put in line
 * @param previousSecretUntil until then deliveries bear two signatures
 * @param createdAt time of its creation
 * @param updatedAt time of its last change
 * @param secret {@code whsec_} and Base64; only where it has just been made
 */
public record Webhook(@Id String id, @Id String workspaceId, String url,
        @OneOf({
                "standard", "slack", "teams", "mail"}) String format,
        @Nullable String description,
        List<String> events, @Nullable String channel, @Nullable String recipient, @Nullable String owner,
        @Nullable String quietFrom, @Nullable String quietUntil, @Nullable String timeZone, int digestMinutes,
        boolean enabled,
        @Nullable @OneOf({
                "asked", "gone", "failing"}) String disabledReason,
        @Nullable Instant failingSince,
        @Nullable String lastError, long pending, boolean replaying, @Nullable Instant previousSecretUntil,
        Instant createdAt, Instant updatedAt, @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String secret) {

    /** Without the secret. */
    @Override
    public String toString() {
        return "Webhook " + id + " to " + url;
    }

    /** With a secret that was just made. */
    public Webhook withSecret(String made) {
        return new Webhook(id, workspaceId, url, format, description, events, channel, recipient, owner, quietFrom,
                quietUntil, timeZone, digestMinutes, enabled, disabledReason, failingSince, lastError, pending,
                replaying, previousSecretUntil, createdAt, updatedAt, made);
    }

    /** With another address. */
    public Webhook withUrl(String other) {
        return new Webhook(id, workspaceId, other, format, description, events, channel, recipient, owner, quietFrom,
                quietUntil, timeZone, digestMinutes, enabled, disabledReason, failingSince, lastError, pending,
                replaying, previousSecretUntil, createdAt, updatedAt, secret);
    }

    /**
     * Creates or changes a webhook. Members that are absent stay unchanged.
     *
     * @param url http or https, without user, password and fragment, or {@code mailto:} and one mail address for the format
     *     {@code mail}. A new webhook requires it
     * @param format {@code standard}: signed JSON; {@code slack}, {@code teams}, {@code mail}: messages for people. Null for
     *     {@code mail} if the url is a mail address, else {@code standard}. It stays as it was created
     * @param description text for people; null removes it
     * @param events topics ({@code run.completed}, {@code run.failed}, {@code run.cancelled}, {@code run.budget_warning},
     *     {@code escalation.opened}, {@code approval.needed}), types of events such as {@code step_failed}, or {@code *} for all;
     *     null for all topics, which is the default of a new webhook. Messages for people include {@code run_budget_exceeded} then
     * @param channel only runs with this {@code config.notifications.channel}; null for all runs
     * @param recipient name of the principal that answers questions by the links of messages; null for no such links
     * @param quietFrom beginning of the hours in which messages wait, as {@code 22:00}; null if absent
     * @param quietUntil end of these hours, on the same or the next day
     * @param timeZone time zone of these hours
     * @param digestMinutes minutes for which messages are gathered in one; 0 for a message each
     * @param enabled whether events are sent; true for a new webhook
     */
    @Request
    public record Change(@Nullable @Text(format = "webhook-url", pattern = "\\S", max = 2048) String url,
            @Nullable @OneOf({
                    "standard", "slack", "teams", "mail"}) String format,
            @Nullable Optional<@Text(max = 500) String> description,
            @Nullable Optional<@Size(min = 1, max = 100) List<@Text(format = "event", pattern = "\\S",
                    max = 60) String>> events,
            @Nullable Optional<@Text(pattern = "\\S", max = 200) String> channel,
            @Nullable Optional<@Text(pattern = "\\S", max = 100) String> recipient,
            @Nullable Optional<@Text(pattern = HOUR, max = 5) String> quietFrom,
            @Nullable Optional<@Text(pattern = HOUR, max = 5) String> quietUntil,
            @Nullable Optional<@Text(format = "time-zone", max = 60) String> timeZone,
            @Nullable @Range(min = 0, max = 1440) Integer digestMinutes, @Nullable Boolean enabled) {

        private static final String HOUR = "^([01][0-9]|2[0-3]):[0-5][0-9]$";
    }

    /**
     * Adds or changes a receiver of messages for the caller. Members that are absent stay unchanged.
     *
     * @param description text for people; null removes it
     * @param events as of a webhook; null for all topics and {@code run_budget_exceeded}
     * @param quietFrom beginning of the hours in which messages wait, as {@code 22:00}; null if absent
     * @param quietUntil end of these hours, on the same or the next day
     * @param timeZone time zone of these hours
     * @param digestMinutes minutes for which messages are gathered in one; 0 for a message each
     * @param enabled whether messages are sent; true for a new receiver
     */
    @Request
    public record OwnChange(@Nullable Optional<@Text(max = 500) String> description,
            @Nullable Optional<@Size(min = 1, max = 100) List<@Text(format = "event", pattern = "\\S",
                    max = 60) String>> events,
            @Nullable Optional<@Text(pattern = Change.HOUR, max = 5) String> quietFrom,
            @Nullable Optional<@Text(pattern = Change.HOUR, max = 5) String> quietUntil,
            @Nullable Optional<@Text(format = "time-zone", max = 60) String> timeZone,
            @Nullable @Range(min = 0, max = 1440) Integer digestMinutes, @Nullable Boolean enabled) {

        /**
         * Converts the settings to a change of a webhook.
         *
         * @param url of a new one; null for a change
         * @param recipient of a new one; null for a change
         */
        public Change toChange(@Nullable String url, @Nullable String recipient) {
            return new Change(url, null, description, events, null,
                    recipient == null ? null : Optional.of(recipient), quietFrom, quietUntil, timeZone, digestMinutes,
                    enabled);
        }
    }

    /**
     * Requests deliveries once more. It has exactly one of the members.
     *
     * @param deliveryId this delivery
     * @param dead all dead deliveries
     * @param from all events since then
     */
    @Request
    public record Redelivery(@Nullable @Ref("DeliveryId") UUID deliveryId, @Default("false") boolean dead,
            @Nullable Instant from) {}

    /**
     * A queued test delivery.
     *
     * @param deliveryId id of the delivery
     */
    public record Ping(String deliveryId) {}
}
