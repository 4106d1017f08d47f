package io.keelson.client;

import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One lease of a step: its worker's input and the result.
 *
 * @param attempt null for a lost lease
 * @param outcome {@code completed}, {@code continued}, {@code failed}, {@code lost} (its worker sent no more
 *            heartbeats), {@code released} (it ended without a result although usage was reported: the step was handed
 *            back or stopped) or {@code running}
 * @param worker the lease holder
 * @param input resolved, secrets redacted; a JSON null if it has expressions and was not recorded, as while it runs. An
 *            input of more than 65,536 characters is {@code {"$truncated": {"characters": n, "start": "…"}}}
 * @param output of an attempt that completed or continued; a JSON null elsewhere
 * @param errorClass {@code infrastructure}, {@code quality}, {@code permanent} and so on
 * @param usage null when there are no tokens
 * @param startedAt null for a lost lease
 */
public record StepAttempt(@Nullable Integer attempt, int leaseEpoch, String outcome, @Nullable String worker,
        JsonNode input, JsonNode output, @Nullable String errorCode, @Nullable String errorClass,
        @Nullable String errorMessage, long tokens, @Nullable TokenUsage usage, @Nullable BigDecimal cost,
        @Nullable Instant startedAt,
        @Nullable Instant completedAt) {

    public StepAttempt {
        input = Json.orNull(input);
        output = Json.orNull(output);
    }
}
