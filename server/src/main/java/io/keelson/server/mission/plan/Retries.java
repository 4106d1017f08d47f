package io.keelson.server.mission.plan;

import io.keelson.core.policy.RetryPolicy;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Retry policies as missions write them: numbers, or a preset and what differs from it. */
final class Retries {
    private static final String ESCALATE = "escalate_model";

    private Retries() {}

    /** @param otherwise source of omitted members if no preset is named */
    static RetryPolicy read(JsonNode raw, RetryPolicy otherwise) {
        String preset = JsonFields.text(raw, "preset");
        RetryPolicy base = preset == null ? otherwise : RetryPolicy.preset(preset).orElse(otherwise);
        int attempts = JsonFields.integer(raw, "max_attempts", base.maxAttempts());
        int failures = raw.has("max_attempts") ? attempts : base.maxFailures();
        return new RetryPolicy(attempts, JsonFields.integer(raw, "max_failures", failures),
                JsonFields.delay(raw, "base_delay_seconds", base.base()),
                JsonFields.delay(raw, "max_delay_seconds", base.max()),
                JsonFields.number(raw, "factor", base.factor()), JsonFields.number(raw, "jitter", base.jitter()),
                raw.has("max_elapsed_seconds") ? JsonFields.seconds(raw, "max_elapsed_seconds", Duration.ZERO)
                        : base.maxElapsed());
    }

    /**
     * The policy with all values: reading it gives the same policy for any defaults.
     *
     * @param raw as it was written, for the models of the retries
     */
    static ObjectNode write(RetryPolicy policy, JsonNode raw) {
        ObjectNode written = JsonNodeFactory.instance.objectNode()
                .put("max_attempts", policy.maxAttempts()).put("max_failures", policy.maxFailures())
                .put("base_delay_seconds", seconds(policy.base())).put("max_delay_seconds", seconds(policy.max()))
                .put("factor", policy.factor()).put("jitter", policy.jitter());
        if (policy.maxElapsed() != null) {
            written.put("max_elapsed_seconds", seconds(policy.maxElapsed()));
        }
        if (raw.has(ESCALATE)) {
            written.set(ESCALATE, raw.get(ESCALATE));
        }
        return written;
    }

    /** The models of a task's retries in order: the task's own, else the run's; empty if absent. */
    static List<String> models(JsonNode task, JsonNode config) {
        JsonNode own = task.path("retry").path(ESCALATE);
        JsonNode said = own.isMissingNode() ? config.path("retry").path(ESCALATE) : own;
        return said.isString() ? List.of(said.stringValue()) : JsonFields.texts(said);
    }

    private static BigDecimal seconds(Duration duration) {
        return BigDecimal.valueOf(duration.toMillis(), 3);
    }
}
