package io.keelson.api.run;

import io.keelson.api.Absent;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.money.TokenUsage;
import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One lease of a step: its input and its outcome.
 *
 * @param attempt null for a lost lease
 * @param leaseEpoch epoch of the lease
 * @param outcome {@code lost}: its worker sent no more heartbeats; {@code released}: it ended without a result although
 *     its worker had reported use, because the worker handed the step back or the step was stopped
 * @param worker worker or node that held the lease
 * @param input resolved, secrets redacted. Null where it has expressions and was not recorded, as while the attempt
 *     runs. An input of more than 65,536 characters is {@code {"$truncated": {"characters": n, "start": "…"}}}.
 * @param output of an attempt that completed or continued
 * @param errorCode code of the error; null without one
 * @param errorClass class of the error, which decides whether it is retried
 * @param errorMessage message of the error; null without one
 * @param tokens tokens that it used
 * @param usage tokens by their price; no token is in two of input, cache_read, cache_write and output, which sum up to
 *     all. Null for no tokens
 * @param cost cost in credits
 * @param startedAt time of its start; null before it
 * @param completedAt time of its end; null while it is open
 */
public record StepAttempt(@Nullable Integer attempt, @Range(min = 1) int leaseEpoch,
        @OneOf({
                "completed", "continued", "failed", "lost", "released", "running"}) String outcome,
        @Nullable String worker, JsonNode input, JsonNode output, @Nullable String errorCode,
        @Nullable String errorClass, @Nullable String errorMessage, long tokens, @Nullable TokenUsage usage,
        BigDecimal cost, @Nullable Instant startedAt, @Nullable Instant completedAt) {

    public StepAttempt {
        input = Absent.asNull(input);
        output = Absent.asNull(output);
    }
}
