package io.keelson.client;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A task of a run.
 *
 * @param key its id in the plan; children of a {@code for_each} have a key of their own
 * @param attempt the run's attempt that it belongs to
 * @param attemptNumber its own attempt, which rises with its retries
 * @param continuationCount turns beyond the first, within its attempt
 * @param groupId the task whose {@code for_each} made it; null for all others
 * @param itemIndex from 0, the item of the {@code for_each} that it is for; null for all others
 * @param dependsOn keys of its upstreams
 * @param output never Java null; a JSON null until there is one
 */
public record Task(String id, String runId, String key, int sequenceNumber, String title, @Nullable String description,
        @Nullable String taskType, String state, String stateType, @Nullable String triggerRule, int attempt,
        int attemptNumber, int continuationCount, @Nullable String groupId, @Nullable Integer itemIndex,
        List<String> dependsOn, @Nullable String outputSummary,
        JsonNode output, @Nullable String errorCode, @Nullable String errorMessage, long tokensUsed,
        @Nullable BigDecimal cost, @Nullable Instant createdAt, @Nullable Instant startedAt,
        @Nullable Instant completedAt, @Nullable Long durationMs) {

    public Task {
        dependsOn = dependsOn == null ? List.of() : List.copyOf(dependsOn);
        output = Json.orNull(output);
    }

    public boolean ended() {
        return "terminal".equals(stateType);
    }
}
