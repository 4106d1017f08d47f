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
 * @param effectiveState {@code paused} for an open task while its run is paused, escalated or stopped at its limit; else the state
 * @param attempt the run's attempt that it belongs to
 * @param attemptNumber its own attempt, which rises with its retries
 * @param continuationCount how often its attempt has continued with another turn; turns after tool calls do not count
 * @param groupId the task whose {@code for_each} made it; null for all others
 * @param itemIndex from 0, the item of the {@code for_each} that it is for; null for all others
 * @param dependsOn keys of its upstreams
 * @param failures of the task as a whole: turns used up, lost workers, rejected outputs
 * @param failureIgnored true when it, or all its work that was not skipped, failed and the run continued without it
 * @param superseded true when another row has taken its place, or a new plan has no use for it
 * @param nextRunAt time of the next attempt; null when not set, as while its ticket is open
 * @param gate the attempt that a person is asked about; null if absent
 * @param ticketId its open escalation ticket; null if absent
 * @param verifierScore of the last verdict, 0 to 1; null when none was given
 * @param verifiedBy who gave the last verdict: {@code auto} or {@code human}; null if absent
 * @param cancelledAt {@code completedAt} of a cancelled task; null for others
 * @param output never Java null; a JSON null until there is one
 */
public record Task(String id, String runId, String key, int sequenceNumber, String title, @Nullable String description,
        @Nullable String taskType, String state, String stateType, String effectiveState, @Nullable String triggerRule,
        int attempt, int attemptNumber, int failures, int continuationCount, boolean failureIgnored, boolean superseded,
        @Nullable Instant nextRunAt, @Nullable Integer gate, @Nullable String ticketId,
        @Nullable BigDecimal verifierScore, @Nullable String verifiedBy, @Nullable String groupId,
        @Nullable Integer itemIndex,
        List<String> dependsOn, @Nullable String outputSummary,
        JsonNode output, @Nullable String errorCode, @Nullable String errorMessage,
        @Nullable String errorClass, long tokensUsed,
        @Nullable BigDecimal cost, @Nullable Instant createdAt, @Nullable Instant startedAt,
        @Nullable Instant completedAt, @Nullable Instant cancelledAt, @Nullable Long durationMs) {

    public Task {
        dependsOn = dependsOn == null ? List.of() : List.copyOf(dependsOn);
        output = Json.orNull(output);
    }

    /** Whether the task has ended. */
    public boolean ended() {
        return "terminal".equals(stateType);
    }
}
