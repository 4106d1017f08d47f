package io.keelson.client;

import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A run to be created: a mission (the body of {@code POST /runs}) and how it is submitted. Immutable.
 *
 * @param mission the body; a mission file read as JSON, or what {@link io.keelson.client.plan.Mission} makes
 * @param idempotencyKey the same key never creates a second run; null for a new key of the client, which lasts for one
 *     call and its repetitions
 */
public record RunRequest(JsonNode mission, @Nullable String idempotencyKey) {

    /** A request for a run of a mission document. */
    public static RunRequest of(JsonNode mission) {
        return new RunRequest(Objects.requireNonNull(mission), null);
    }

    /** With the value of one declared input. */
    public RunRequest input(String name, @Nullable Object value) {
        ObjectNode body = body();
        body.withObjectProperty("input").set(name, Json.of(value));
        return new RunRequest(body, idempotencyKey);
    }

    /** Starts it at once, instead of leaving it {@code created}. */
    public RunRequest start() {
        return new RunRequest(body().put("start", true), idempotencyKey);
    }

    /** Sets the start time; a time in the past starts the run at once. */
    public RunRequest startAt(Instant when) {
        return new RunRequest(body().put("start_at", when.toString()), idempotencyKey);
    }

    /** Sets the idempotency key: a repeated request with it creates no second run. */
    public RunRequest idempotencyKey(String key) {
        return new RunRequest(mission, key);
    }

    private ObjectNode body() {
        if (mission instanceof ObjectNode object) {
            return object.deepCopy();
        }
        throw new IllegalArgumentException("a mission is a JSON object, not " + mission.getNodeType());
    }
}
