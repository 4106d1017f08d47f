package io.keelson.api.outlet;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
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
 * @param url address that receives the events
 * @param description text for people
 * @param events topics and types of events
 * @param channel channel of the runs; null for all
 * @param enabled whether deliveries are sent
 * @param disabledReason {@code gone}: the receiver answered 410; {@code failing}: it took nothing for too long
 * @param failingSince when the first attempt failed since the last success
 * @param lastError why the last attempt failed; null after a success
 * @param pending number of pending deliveries
 * @param replaying earlier events are still being put in line
 * @param previousSecretUntil until then deliveries bear two signatures
 * @param createdAt time of its creation
 * @param updatedAt time of its last change
 * @param secret {@code whsec_} and Base64; only where it has just been made
 */
public record Webhook(@Id String id, @Id String workspaceId, String url, @Nullable String description,
        List<String> events, @Nullable String channel, boolean enabled,
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
        return new Webhook(id, workspaceId, url, description, events, channel, enabled, disabledReason, failingSince,
                lastError, pending, replaying, previousSecretUntil, createdAt, updatedAt, made);
    }

    /**
     * Creates or changes a webhook. Members that are absent stay unchanged.
     *
     * @param url http or https, without user, password and fragment. A new webhook requires it
     * @param description text for people; null removes it
     * @param events topics ({@code run.completed}, {@code run.failed}, {@code run.cancelled}, {@code run.budget_warning},
     *     {@code escalation.opened}, {@code approval.needed}), types of events such as {@code step_failed}, or {@code *} for all;
     *     null for all topics, which is the default of a new webhook
     * @param channel only runs with this {@code config.notifications.channel}; null for all runs
     * @param enabled whether events are sent; true for a new webhook
     */
    @Request
    public record Change(@Nullable @Text(format = "http-url", pattern = "\\S", max = 2048) String url,
            @Nullable Optional<@Text(max = 500) String> description,
            @Nullable Optional<@Size(min = 1, max = 100) List<@Text(format = "event", pattern = "\\S",
                    max = 60) String>> events,
            @Nullable Optional<@Text(pattern = "\\S", max = 200) String> channel, @Nullable Boolean enabled) {}

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
