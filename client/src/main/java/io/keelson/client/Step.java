package io.keelson.client;

import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A step of a task: what a worker claims.
 *
 * @param position from 1, the order within its task
 * @param leaseEpoch rises at every claim and never falls
 * @param input as the plan gave it or, once claimed, with its expressions resolved
 * @param errorClass {@code infrastructure}, {@code quality}, {@code permanent} and so on
 * @param nextRunAt when it is tried again, while it waits for a retry
 */
public record Step(String id, String taskId, String name, String kind, @Nullable String tool, int position,
        String state, int attempt, int maxAttempts, int leaseEpoch, JsonNode input, JsonNode output,
        @Nullable String errorCode, @Nullable String errorMessage, @Nullable String errorClass, long tokens,
        @Nullable BigDecimal cost, @Nullable Instant nextRunAt, @Nullable Instant startedAt,
        @Nullable Instant completedAt) {

    public Step {
        input = Json.orNull(input);
        output = Json.orNull(output);
    }
}
