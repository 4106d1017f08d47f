package io.keelson.client.plan;

import io.keelson.client.Json;
import java.math.BigDecimal;
import java.time.Duration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Settings of one step of a task. */
public final class StepBuilder {

    private final ObjectNode body;

    StepBuilder(ObjectNode body) {
        this.body = body;
    }

    /** How long one execution may take. */
    public StepBuilder timeout(Duration value) {
        body.put("timeout_seconds", seconds(value));
        return this;
    }

    /** How many attempts there are in all, the first included. */
    public StepBuilder maxAttempts(int value) {
        retry().put("max_attempts", value);
        return this;
    }

    /** The delay before the first retry, which doubles from one to the next, and its upper limit. */
    public StepBuilder backoff(Duration first, Duration longest) {
        retry().put("base_delay_seconds", seconds(first)).put("max_delay_seconds", seconds(longest));
        return this;
    }

    /**
     * Adds a call that undoes the step, of a task without an undo of its own. Further calls come after it, in order.
     *
     * @param tool name of the tool
     */
    public StepBuilder undo(String tool, Object input) {
        Undoing.add(body, tool, input);
        return this;
    }

    /**
     * Takes over the result of a step of the same tool with the same key in any run of the workspace, instead of computing it.
     *
     * @param key jq expression; equal values have equal results
     * @param maxAge maximum age of the result, in whole seconds
     */
    public StepBuilder cache(String key, Duration maxAge) {
        body.putObject("cache").put("key", key).put("max_age", maxAge.toSeconds() + "s");
        return this;
    }

    /** Sets any other member of the step by its name in the mission file. */
    public StepBuilder with(String member, Object value) {
        body.set(member, Json.of(value));
        return this;
    }

    private ObjectNode retry() {
        return body.withObjectProperty("retry");
    }

    /** Whole seconds are written as such: 30, not 30.000. */
    private static BigDecimal seconds(Duration value) {
        BigDecimal exact = BigDecimal.valueOf(value.toMillis(), 3).stripTrailingZeros();
        return exact.scale() < 0 ? exact.setScale(0) : exact;
    }

    JsonNode toJson() {
        return body;
    }
}
