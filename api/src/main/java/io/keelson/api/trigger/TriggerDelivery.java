package io.keelson.api.trigger;

import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.Omittable;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Types;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * An event that a trigger has received, and its outcome.
 *
 * @param id id of the resource
 * @param triggerId id of the trigger
 * @param key identity of the event
 * @param state outcome: {@code started} a run, {@code signalled} a run that existed, {@code merged} into the run of other events, {@code dropped} by a rule of the trigger,
 *     {@code refused} as it does not fit the recipe, {@code dead} after repeated failures
 * @param runId id of the run; null if none is started or will be
 * @param repeats number of further deliveries of the event
 * @param failures number of failed attempts
 * @param errorCode why it waits or has no run; null otherwise
 * @param errorMessage message of the error; null without one
 * @param receivedAt time of the first delivery
 * @param dueAt when it is decided next at the latest, such as the end of its wait for a rule of flow; null before its first decision and
 *     once it is decided
 * @param decidedAt time of the outcome; null before
 * @param headers headers of the request without credentials; absent in lists
 * @param body body of the request; absent in lists
 */
public record TriggerDelivery(@Id String id, @Id String triggerId, String key,
        @OneOf({
                "pending", "started", "signalled", "merged", "dropped", "refused", "dead"}) String state,
        @Nullable @Id String runId, int repeats, int failures, @Nullable String errorCode,
        @Nullable String errorMessage, Instant receivedAt, @Nullable Instant dueAt, @Nullable Instant decidedAt,
        @Omittable @Nullable ObjectNode headers,
        @Omittable @Nullable @Types({"object", "array", "string", "number", "boolean", "null"}) JsonNode body) {

    /**
     * Answer to the sender of an event.
     *
     * @param id id of the delivery
     * @param triggerId id of the trigger
     * @param key identity of the event
     * @param duplicate whether the event was received before
     * @param state outcome so far
     * @param runId id of the run; null if none is started or will be
     */
    public record Receipt(@Id String id, @Id String triggerId, String key, boolean duplicate,
            @OneOf({"pending", "started", "signalled", "merged", "dropped", "refused", "dead"}) String state,
            @Nullable @Id String runId) {}

    /**
     * Requests that deliveries are decided again. Without members, all that are decided.
     *
     * @param deliveryId only this delivery
     * @param state only deliveries in this state
     * @param since only deliveries that were received since then
     * @param until only deliveries that were received before
     */
    @Request
    public record Replay(@Nullable @Ref("Id") UUID deliveryId,
            @Nullable @OneOf({"started", "signalled", "merged", "dropped", "refused", "dead"}) String state,
            @Nullable Instant since, @Nullable Instant until) {}

    /**
     * Deliveries that are decided again.
     *
     * @param count number of them, 5,000 at most
     * @param more whether further ones follow
     */
    public record Replayed(int count, boolean more) {}
}
