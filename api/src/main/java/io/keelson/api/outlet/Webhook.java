package io.keelson.api.outlet;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import java.time.Instant;
import java.util.List;
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
}
