package io.keelson.client;

import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A step of a task, which a worker claims.
 *
 * @param taskKey its task's id in the plan
 * @param position from 1, the order within its task
 * @param turn from 1; rises when its task is continued
 * @param failures reported so far
 * @param failureIgnored true when it failed and its task continued without it
 * @param taskAttempt the attempt of its task that it belongs to
 * @param leaseEpoch rises at every claim and never falls
 * @param progress from 0 to 1, last reported by its executor; null if not reported
 * @param input as the plan gives it, of a gate resolved; {@link Steps#attempts} has each attempt's input
 * @param errorClass {@code infrastructure}, {@code quality}, {@code permanent} and so on
 * @param nextRunAt when it is tried again, while it waits for a retry
 */
public record Step(String id, String runId, String taskId, @Nullable String taskKey, String name, String kind,
        @Nullable String tool, int position, int turn, String state, int attempt, int maxAttempts, int failures,
        boolean failureIgnored,
        int taskAttempt, int leaseEpoch,
        @Nullable Double progress, @Nullable String progressMessage, JsonNode input, JsonNode output,
        @Nullable String errorCode, @Nullable String errorMessage, @Nullable String errorClass, long tokens,
        @Nullable BigDecimal cost, @Nullable Instant nextRunAt, @Nullable Instant startedAt,
        @Nullable Instant completedAt) {

    public Step {
        input = Json.orNull(input);
        output = Json.orNull(output);
    }
}
