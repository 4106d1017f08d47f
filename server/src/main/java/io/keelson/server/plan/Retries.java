package io.keelson.server.plan;

import io.keelson.core.policy.RetryPolicy;
import java.math.BigDecimal;
import java.time.Duration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Retry policies as missions write them: numbers, or a preset and what differs from it. */
final class Retries {

    private Retries() {}

    /** @param otherwise where what is left out comes from when no preset is named */
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

    /** The policy with all values: reading it gives the same policy for any defaults. */
    static ObjectNode write(RetryPolicy policy) {
        ObjectNode written = JsonNodeFactory.instance.objectNode()
                .put("max_attempts", policy.maxAttempts()).put("max_failures", policy.maxFailures())
                .put("base_delay_seconds", seconds(policy.base())).put("max_delay_seconds", seconds(policy.max()))
                .put("factor", policy.factor()).put("jitter", policy.jitter());
        if (policy.maxElapsed() != null) {
            written.put("max_elapsed_seconds", seconds(policy.maxElapsed()));
        }
        return written;
    }

    private static BigDecimal seconds(Duration duration) {
        return BigDecimal.valueOf(duration.toMillis(), 3);
    }
}
